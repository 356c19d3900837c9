/* server_schema.c - see server_schema.h.
 *
 * An append is one call of cocabo_append: the study's row is locked for as long as that
 * statement takes and never over a round trip, so that numbers and places in the log
 * are given in the order of the commits. All checks come before the first write, and a
 * conflict is an answer, not an error: the server's log stays quiet.
 */
#include "store/server_schema.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

/* The first version, in parts that make one statement. It finds out by itself, under
 * the lock, whether it has been done. */
static const char *const first[] = {
    "DO $migrate$ BEGIN"
    " PERFORM pg_advisory_xact_lock(1668244321, 1);" /* "coca" */
    " IF to_regclass('cocabo_schema') IS NOT NULL THEN RETURN; END IF;"

    " CREATE TABLE cocabo_schema (version integer NOT NULL);"
    " INSERT INTO cocabo_schema VALUES (1);"

    " CREATE TABLE cocabo_studies ("
    "   id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    "   name text COLLATE \"C\" NOT NULL UNIQUE,"
    "   letters text NOT NULL,"
    "   seq bigint NOT NULL,"    /* of the last event */
    "   trials bigint NOT NULL," /* how many there are: the next number */
    "   summary_seq bigint NOT NULL DEFAULT 0,"
    "   summary text NOT NULL DEFAULT ''"
    " ) WITH (fillfactor = 50);" /* its row changes all the time */

    " CREATE TABLE cocabo_events ("
    "   study bigint NOT NULL REFERENCES cocabo_studies ON DELETE CASCADE,"
    "   seq bigint NOT NULL,"
    "   id uuid NOT NULL,"
    "   time double precision NOT NULL,"
    "   kind integer NOT NULL,"
    "   number bigint NOT NULL,"
    "   attempt bigint NOT NULL,"
    "   body text NOT NULL,"
    "   checksum bigint,"
    "   PRIMARY KEY (study, seq)"
    " );"
    " CREATE UNIQUE INDEX cocabo_event_by_id ON cocabo_events (study, id);"
    " CREATE UNIQUE INDEX cocabo_trial_by_number ON cocabo_events (study, number)"
    "   WHERE kind IN (3, 9);"
    " CREATE UNIQUE INDEX cocabo_attempt_by_number"
    "   ON cocabo_events (study, number, attempt) WHERE kind = 8;"

    " CREATE TABLE cocabo_leases ("
    "   study bigint NOT NULL REFERENCES cocabo_studies ON DELETE CASCADE,"
    "   trial bigint NOT NULL,"
    "   owner text NOT NULL,"
    "   until double precision NOT NULL,"
    "   seconds double precision NOT NULL,"
    "   PRIMARY KEY (study, trial)"
    " ) WITH (fillfactor = 50);",

    /* Seconds since 1970 on the server's clock. */
    " CREATE FUNCTION cocabo_now() RETURNS double precision LANGUAGE sql VOLATILE AS"
    "   $f$ SELECT extract(epoch FROM clock_timestamp())::double precision $f$;",

    /* What is to be read, as it was at one moment: rows of kind -1 are the study, 0 its
     * events from p_seq on, 1 its leases (p_leases 1: those that have run out, 2: all).
     */
    " CREATE FUNCTION cocabo_read(p_study bigint, p_seq bigint, p_limit bigint,"
    "   p_leases integer)"
    " RETURNS TABLE (what integer, r_seq bigint, r_id uuid, r_time double precision,"
    "   r_kind integer, r_number bigint, r_attempt bigint, r_body text)"
    " LANGUAGE plpgsql STABLE AS $f$ BEGIN"
    "   RETURN QUERY SELECT -1, s.seq, NULL::uuid, NULL::double precision,"
    "     NULL::integer, NULL::bigint, NULL::bigint, NULL::text"
    "     FROM cocabo_studies s WHERE s.id = p_study;"
    "   RETURN QUERY SELECT 0, e.seq, e.id, e.time, e.kind, e.number, e.attempt,"
    "     CASE WHEN e.seq = p_seq THEN NULL ELSE e.body END"
    "     FROM cocabo_events e WHERE e.study = p_study AND e.seq >= p_seq"
    "     ORDER BY e.seq LIMIT p_limit;"
    "   IF p_leases > 0 THEN"
    "     RETURN QUERY SELECT 1, NULL::bigint, NULL::uuid, l.until - cocabo_now(),"
    "       NULL::integer, l.trial, NULL::bigint, l.owner"
    "       FROM cocabo_leases l WHERE l.study = p_study"
    "       AND (p_leases = 2 OR l.until <= cocabo_now()) ORDER BY l.trial;"
    "   END IF;"
    " END $f$;",

    /* Where the events are that are in the log already, by their place in the call. */
    " CREATE FUNCTION cocabo_places(p_study bigint, p_events json)"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE sql STABLE AS $f$"
    "   SELECT NULL::text, e.seq, e.time"
    "   FROM json_array_elements(p_events) WITH ORDINALITY AS w(event, i)"
    "   LEFT JOIN cocabo_events e"
    "     ON e.study = p_study AND e.id = (w.event->>0)::uuid"
    "   ORDER BY w.i $f$;",

    /* Events are lists: id, kind, number, attempt, whether an attempt is named, whether
     * it runs, body, checksum, time (null: now). */
    " CREATE FUNCTION cocabo_append(p_study bigint, p_seen bigint, p_seen_id uuid,"
    "   p_next bigint, p_owner text, p_seconds double precision, p_durable boolean,"
    "   p_gone text[], p_events json)"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE plpgsql VOLATILE AS $f$"
    " DECLARE"
    "   n integer := json_array_length(p_events); v record; w json; k integer;"
    "   v_id uuid; v_number bigint; v_attempt bigint; v_last bigint; v_now double "
    "precision;"
    "   v_seq bigint; v_trials bigint; v_until double precision; v_new integer := 0;"
    " BEGIN"
    "   IF NOT p_durable THEN"
    "     PERFORM set_config('synchronous_commit', 'off', true);"
    "   ELSIF current_setting('synchronous_commit') = 'off' THEN"
    "     PERFORM set_config('synchronous_commit', 'on', true);"
    "   END IF;"
    /* Whoever is late need not wait for its turn to hear so. */
    "   SELECT s.seq, s.trials INTO v FROM cocabo_studies s WHERE s.id = p_study;"
    "   IF NOT FOUND THEN"
    "     RETURN QUERY SELECT 'deleted', NULL::bigint, NULL::double precision; RETURN;"
    "   END IF;"
    "   IF p_next >= 0 AND v.trials > p_next AND NOT EXISTS (SELECT FROM cocabo_events "
    "e"
    "       WHERE e.study = p_study AND e.id = (p_events->0->>0)::uuid) THEN"
    "     RETURN QUERY SELECT 'taken', p_next, v.trials::double precision; RETURN;"
    "   END IF;"
    "   SELECT s.seq, s.trials INTO v FROM cocabo_studies s WHERE s.id = p_study"
    "     FOR UPDATE;"
    "   IF NOT FOUND THEN"
    "     RETURN QUERY SELECT 'deleted', NULL::bigint, NULL::double precision; RETURN;"
    "   END IF;"
    "   v_seq := v.seq; v_trials := v.trials; v_now := cocabo_now();"
    "   IF NOT EXISTS (SELECT FROM cocabo_places(p_study, p_events) p"
    "       WHERE p.place IS NULL) THEN"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_events); RETURN;"
    "   END IF;"
    "   IF p_seen_id IS NOT NULL AND NOT EXISTS (SELECT FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.seq = p_seen AND e.id = p_seen_id) THEN"
    "     RETURN QUERY SELECT 'lost', NULL::bigint, NULL::double precision; RETURN;"
    "   END IF;"
    "   IF p_next >= 0 AND p_next <> v_trials THEN"
    "     RETURN QUERY SELECT 'taken', p_next, v_trials::double precision; RETURN;"
    "   END IF;"
    /* Checks first. */
    "   FOR w IN SELECT * FROM json_array_elements(p_events) LOOP"
    "     k := (w->>1)::integer; v_number := (w->>2)::bigint;"
    "     v_attempt := (w->>3)::bigint;"
    "     IF k NOT IN (3, 7, 8, 9) OR (n > 1 AND EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = (w->>0)::uuid)) THEN CONTINUE; END IF;"
    "     IF k IN (3, 9) THEN"
    "       IF v_number <> v_trials THEN"
    "         RETURN QUERY SELECT 'taken', v_number, v_trials::double precision; "
    "RETURN;"
    "       END IF;"
    "       v_trials := v_trials + 1; CONTINUE;"
    "     END IF;"
    "     SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.number = v_number AND e.kind = 8;"
    "     IF k = 8 AND v_number < v.trials AND v_attempt <= v_last THEN"
    "       RETURN QUERY SELECT 'attempt', v_number, v_attempt::double precision; "
    "RETURN;"
    "     END IF;"
    "     IF k = 7 AND v_attempt >= v_last AND EXISTS (SELECT FROM cocabo_leases l"
    "         WHERE l.study = p_study AND l.trial = v_number AND l.until > v_now"
    "         AND NOT l.owner = ANY (p_gone)) THEN"
    "       RETURN QUERY SELECT 'alive', v_number, NULL::double precision; RETURN;"
    "     END IF;"
    "   END LOOP;",
    /* Then writes. */
    "   FOR w IN SELECT * FROM json_array_elements(p_events) LOOP"
    "     v_id := (w->>0)::uuid; k := (w->>1)::integer; v_number := (w->>2)::bigint;"
    "     v_attempt := (w->>3)::bigint;"
    "     INSERT INTO cocabo_events (study, seq, id, time, kind, number, attempt, body,"
    "       checksum) VALUES (p_study, v_seq + 1, v_id,"
    "       coalesce((w->>8)::double precision, v_now), k, v_number, v_attempt, w->>6,"
    "       (w->>7)::bigint) ON CONFLICT (study, id) DO NOTHING;"
    "     IF NOT FOUND THEN CONTINUE; END IF;"
    "     v_seq := v_seq + 1;"
    "     IF k IN (3, 8) OR (k = 9 AND (w->>5)::boolean) THEN"
    "       IF p_owner IS NULL THEN"
    "         DELETE FROM cocabo_leases l WHERE l.study = p_study AND l.trial = "
    "v_number;"
    "       ELSE"
    "         INSERT INTO cocabo_leases (study, trial, owner, until, seconds)"
    "           VALUES (p_study, v_number, p_owner, v_now + p_seconds, p_seconds)"
    "           ON CONFLICT (study, trial) DO UPDATE SET owner = excluded.owner,"
    "           until = excluded.until, seconds = excluded.seconds;"
    "       END IF;"
    "     ELSIF k = 4 THEN"
    "       DELETE FROM cocabo_leases l WHERE l.study = p_study AND l.trial = v_number;"
    "     ELSIF k IN (5, 6, 7) THEN"
    "       v_last := 0;"
    "       IF k = 7 OR (w->>4)::boolean THEN"
    "         SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "           WHERE e.study = p_study AND e.number = v_number AND e.kind = 8;"
    "       END IF;"
    "       IF v_attempt >= v_last THEN"
    "         DELETE FROM cocabo_leases l WHERE l.study = p_study AND l.trial = "
    "v_number;"
    "       END IF;"
    "     END IF;"
    "     v_new := v_new + 1;"
    "   END LOOP;"
    "   UPDATE cocabo_studies s SET seq = v_seq, trials = v_trials WHERE s.id = "
    "p_study;"
    "   IF v_new = n THEN"
    "     FOR k IN 1..n LOOP"
    "       problem := NULL; place := v_seq - n + k;"
    "       at := coalesce((p_events->(k - 1)->>8)::double precision, v_now);"
    "       RETURN NEXT;"
    "     END LOOP;"
    "   ELSE"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_events);"
    "   END IF;"
    " END $f$;",

    /* A new study with the events of its log; the same call again finds it. */
    " CREATE FUNCTION cocabo_create(p_name text, p_letters text, p_events json)"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE plpgsql VOLATILE AS $f$"
    " DECLARE v_study bigint; v_found text := 'made';"
    " BEGIN"
    "   IF current_setting('synchronous_commit') = 'off' THEN"
    "     PERFORM set_config('synchronous_commit', 'on', true);"
    "   END IF;"
    "   INSERT INTO cocabo_studies (name, letters, seq, trials)"
    "     VALUES (p_name, p_letters, 0, 0) ON CONFLICT (name) DO NOTHING"
    "     RETURNING id INTO v_study;"
    "   IF v_study IS NULL THEN"
    "     SELECT s.id INTO v_study FROM cocabo_studies s JOIN cocabo_events e"
    "       ON e.study = s.id AND e.seq = 1 WHERE s.name = p_name"
    "       AND e.id = (p_events->0->>0)::uuid;"
    "     IF v_study IS NULL THEN"
    "       RETURN QUERY SELECT 'exists', NULL::bigint, NULL::double precision; RETURN;"
    "     END IF;"
    "     v_found := 'found';"
    "   END IF;"
    "   problem := v_found; place := v_study; at := NULL; RETURN NEXT;"
    "   FOR problem, place, at IN SELECT * FROM cocabo_append(v_study, 0, NULL, -1, "
    "NULL,"
    "       0, true, '{}', p_events) LOOP"
    "     RETURN NEXT;"
    "     IF problem IS NOT NULL THEN"
    "       DELETE FROM cocabo_studies s WHERE s.id = v_study;"
    "     END IF;"
    "   END LOOP;"
    " END $f$;",

    /* A lease that ends later than one that began now was given by a clock that was
     * ahead: it ends in its own length from now. */
    " CREATE FUNCTION cocabo_renew(p_study bigint, p_owner text,"
    "   p_seconds double precision) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$"
    " DECLARE v_now double precision := cocabo_now(); v_id bigint;"
    " BEGIN"
    "   PERFORM set_config('synchronous_commit', 'off', true);"
    "   SELECT s.id INTO v_id FROM cocabo_studies s WHERE s.id = p_study;"
    "   UPDATE cocabo_leases l SET until = v_now + p_seconds, seconds = p_seconds"
    "     WHERE l.study = p_study AND l.owner = p_owner;"
    "   UPDATE cocabo_leases l SET until = v_now + l.seconds"
    "     WHERE l.study = p_study AND l.until > v_now + l.seconds + 1;"
    "   RETURN v_id;"
    " END $f$;"
    " END $migrate$",
    NULL};

/* Version i + 1 is made from version i by migrations[i]. They have been run on users'
 * databases: never change one, add the next. */
static const char *const *const migrations[] = {first};
_Static_assert(sizeof migrations / sizeof migrations[0] == CB_SERVER_SCHEMA_NEWEST,
               "every version has its migration");

enum { OLDEST_SERVER = 120000 }; /* PostgreSQL 12 */

/* *version 0: there is nothing of ours. */
static cocabo_status look(cb_server *s, int64_t *version, bool *can_write,
                          cocabo_error *err) {
  PGresult *rows;
  CB_TRY(
      cb_server_run(s,
                    "SELECT current_setting('server_version_num'), current_setting("
                    "'transaction_read_only') = 'on' OR pg_is_in_recovery(), "
                    "getdatabaseencoding(), to_regclass('cocabo_schema') IS NOT NULL",
                    NULL, &rows, err));
  const int64_t server = cb_rows_integer(rows, 0, 0);
  const bool ours = cb_rows_text(rows, 0, 3)[0] == 't';
  *can_write = cb_rows_text(rows, 0, 1)[0] != 't';
  cocabo_status status = COCABO_OK;
  if (server < OLDEST_SERVER)
    status = cb_fail(err, COCABO_E_STORE,
                     "PostgreSQL at %s is version %lld, want 12 or later", s->where,
                     (long long)(server / 10000));
  else if (strcmp(cb_rows_text(rows, 0, 2), "UTF8") != 0)
    status = cb_fail(err, COCABO_E_STORE,
                     "the database at %s has the encoding %.30s, want UTF8", s->where,
                     cb_rows_text(rows, 0, 2));
  cb_rows_free(rows);
  *version = 0;
  if (status != COCABO_OK || !ours)
    return status;
  CB_TRY(cb_server_run(s, "SELECT version FROM cocabo_schema", NULL, &rows, err));
  if (cb_rows_count(rows) == 1)
    *version = cb_rows_integer(rows, 0, 0);
  else
    status =
        cb_fail(err, COCABO_E_STORE,
                "the database at %s is damaged: its schema has no version; restore "
                "a backup",
                s->where);
  cb_rows_free(rows);
  return status;
}

static char *join(const char *const *parts) {
  size_t length = 0;
  for (int i = 0; parts[i]; i++)
    length += strlen(parts[i]);
  char *all = cb_calloc(length + 1, 1);
  for (int i = 0; all && parts[i]; i++)
    strcat(all, parts[i]);
  return all;
}

static cocabo_status migrate(cb_server *s, int64_t version, cocabo_error *err) {
  for (int64_t i = version; i < CB_SERVER_SCHEMA_NEWEST; i++) {
    PGresult *rows;
    char *sql = join(migrations[i]);
    if (!sql)
      return cb_no_memory(err);
    const cocabo_status status = cb_server_run(s, sql, NULL, &rows, err);
    cb_free(sql);
    CB_TRY(status);
    cb_rows_free(rows);
  }
  return COCABO_OK;
}

cocabo_status cb_server_prepare(cb_server *s, bool create, bool read_only,
                                cocabo_error *err) {
  int64_t version = 0;
  bool can_write = false;
  CB_TRY(look(s, &version, &can_write, err));
  if (version > CB_SERVER_SCHEMA_NEWEST)
    return cb_fail(err, COCABO_E_STORE,
                   "the database at %s was made by a newer version of cocabo: its "
                   "schema is %lld, this version knows up to %d",
                   s->where, (long long)version, CB_SERVER_SCHEMA_NEWEST);
  if (version == 0 && !create)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "there is no study in the database at %s "
                   "yet",
                   s->where);
  if (!read_only && !can_write)
    return cb_fail(err, COCABO_E_STORE,
                   "cannot write to PostgreSQL at %s: it is a read-only replica, or "
                   "made read-only; want the primary server",
                   s->where);
  if (read_only || version == CB_SERVER_SCHEMA_NEWEST)
    return COCABO_OK;
  s->what = "bring up to date";
  const cocabo_status status = migrate(s, version, err);
  if (status == COCABO_OK)
    return COCABO_OK;
  /* Another process may have been faster. */
  int64_t found = 0;
  const bool done = look(s, &found, &can_write, NULL) == COCABO_OK &&
                    found == CB_SERVER_SCHEMA_NEWEST;
  return done ? COCABO_OK : status;
}
