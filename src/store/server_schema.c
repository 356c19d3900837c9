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

    /* Where the events are that are in the log already, by their place in the call. */
    " CREATE FUNCTION cocabo_places(p_study bigint, p_ids uuid[])"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE sql STABLE AS $f$"
    "   SELECT NULL::text, e.seq, e.time"
    "   FROM unnest(p_ids) WITH ORDINALITY AS w(id, i)"
    "   LEFT JOIN cocabo_events e ON e.study = p_study AND e.id = w.id"
    "   ORDER BY w.i $f$;",

    /* Its statements are planned once: planning them for every array took a third of
     * the time. The arrays have one item an event: p_named, whether an attempt is
     * named; p_runs, whether it runs; p_times, its time (null: now). */
    " CREATE FUNCTION cocabo_append(p_study bigint, p_seen bigint, p_seen_id uuid,"
    "   p_next bigint, p_owner text, p_seconds double precision, p_durable boolean,"
    "   p_gone text[], p_ids uuid[], p_kinds integer[], p_numbers bigint[],"
    "   p_attempts bigint[], p_named boolean[], p_runs boolean[], p_bodies text[],"
    "   p_sums bigint[], p_times double precision[])"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE plpgsql VOLATILE"
    " SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $f$"
    " DECLARE"
    "   n integer := cardinality(p_ids); k integer; v_known boolean;"
    "   v_now double precision; v_seq bigint; v_trials bigint; v_old bigint;"
    "   v_last bigint; v_count bigint; v_twice boolean;"
    " BEGIN"
    "   IF NOT p_durable THEN"
    "     PERFORM set_config('synchronous_commit', 'off', true);"
    "   ELSIF current_setting('synchronous_commit') = 'off' THEN"
    "     PERFORM set_config('synchronous_commit', 'on', true);"
    "   END IF;"
    /* Whoever is late need not wait for its turn to hear so. */
    "   IF p_next >= 0 THEN"
    "     SELECT s.trials INTO v_trials FROM cocabo_studies s WHERE s.id = p_study;"
    "     IF v_trials > p_next AND NOT EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = p_ids[1]) THEN"
    "       problem := 'taken'; place := p_next; at := v_trials; RETURN NEXT; RETURN;"
    "     END IF;"
    "   END IF;"
    "   SELECT s.seq, s.trials INTO v_seq, v_trials FROM cocabo_studies s"
    "     WHERE s.id = p_study FOR UPDATE;"
    "   IF NOT FOUND THEN problem := 'deleted'; RETURN NEXT; RETURN; END IF;"
    "   v_now := extract(epoch FROM clock_timestamp()); v_old := v_trials;"
    "   FOR i IN 1..n LOOP"
    "     v_known := EXISTS (SELECT FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.id = p_ids[i]);"
    "     EXIT WHEN v_known;"
    "   END LOOP;"
    "   IF v_known AND NOT EXISTS (SELECT FROM cocabo_places(p_study, p_ids) p"
    "       WHERE p.place IS NULL) THEN"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_ids); RETURN;"
    "   END IF;"
    "   IF p_seen_id IS NOT NULL AND NOT EXISTS (SELECT FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.seq = p_seen AND e.id = p_seen_id) THEN"
    "     problem := 'lost'; RETURN NEXT; RETURN;"
    "   END IF;"
    "   IF p_next >= 0 AND p_next <> v_trials THEN"
    "     problem := 'taken'; place := p_next; at := v_trials; RETURN NEXT; RETURN;"
    "   END IF;",

    /* Checks first. */
    "   FOR i IN 1..n LOOP"
    "     k := p_kinds[i];"
    "     IF k NOT IN (3, 7, 8, 9) OR (v_known AND EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = p_ids[i])) THEN CONTINUE; END IF;"
    "     place := p_numbers[i];"
    "     IF k IN (3, 9) THEN"
    "       IF place <> v_trials THEN"
    "         problem := 'taken'; at := v_trials; RETURN NEXT; RETURN;"
    "       END IF;"
    "       v_trials := v_trials + 1; CONTINUE;"
    "     END IF;"
    "     SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.number = place AND e.kind = 8;"
    "     IF k = 8 AND place < v_old AND p_attempts[i] <= v_last THEN"
    "       problem := 'attempt'; at := p_attempts[i]; RETURN NEXT; RETURN;"
    "     END IF;"
    "     IF k = 7 AND p_seen_id IS NOT NULL AND EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.seq > p_seen AND e.number = place"
    "         AND e.kind IN (4, 5, 6)) THEN"
    "       problem := 'ended'; RETURN NEXT; RETURN;"
    "     END IF;"
    "     IF k = 7 AND p_attempts[i] >= v_last AND EXISTS (SELECT FROM cocabo_leases l"
    "         WHERE l.study = p_study AND l.trial = place AND l.until > v_now"
    "         AND NOT l.owner = ANY (p_gone)) THEN"
    "       problem := 'alive'; RETURN NEXT; RETURN;"
    "     END IF;"
    "   END LOOP;"
    /* Then writes; an id may come twice in one call. */
    "   v_twice := n > 1 AND (SELECT count(DISTINCT w.id) < n FROM unnest(p_ids) "
    "w(id));"
    "   INSERT INTO cocabo_events (study, seq, id, time, kind, number, attempt, body,"
    "     checksum) SELECT p_study, v_seq + row_number() OVER (ORDER BY w.i), w.id,"
    "     coalesce(w.time, v_now), w.kind, w.number, w.attempt, w.body, w.sum"
    "     FROM unnest(p_ids, p_kinds, p_numbers, p_attempts, p_bodies, p_sums, p_times)"
    "       WITH ORDINALITY AS w(id, kind, number, attempt, body, sum, time, i)"
    "     WHERE n = 1 OR ((NOT v_known OR NOT EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = w.id))"
    "       AND NOT (v_twice AND EXISTS (SELECT FROM unnest(p_ids)"
    "         WITH ORDINALITY AS o(id, i)"
    "         WHERE o.id = w.id AND o.i < w.i)));"
    "   GET DIAGNOSTICS v_count = ROW_COUNT;"
    "   FOR i IN 1..n LOOP"
    "     k := p_kinds[i]; v_last := 0;"
    "     IF k NOT BETWEEN 3 AND 9 OR (k = 9 AND NOT p_runs[i]) THEN CONTINUE; END IF;"
    "     IF v_count < n AND NOT EXISTS (SELECT FROM cocabo_events e WHERE"
    "         e.study = p_study AND e.id = p_ids[i] AND e.seq > v_seq) THEN"
    "       CONTINUE;" /* it was there before */
    "     END IF;"
    "     IF p_owner IS NOT NULL AND k IN (3, 8, 9) THEN"
    "       INSERT INTO cocabo_leases (study, trial, owner, until, seconds)"
    "         VALUES (p_study, p_numbers[i], p_owner, v_now + p_seconds, p_seconds)"
    "         ON CONFLICT (study, trial) DO UPDATE SET owner = excluded.owner,"
    "         until = excluded.until, seconds = excluded.seconds;"
    "       CONTINUE;"
    "     END IF;"
    "     IF k = 7 OR (k IN (5, 6) AND p_named[i]) THEN"
    "       SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.number = p_numbers[i] AND e.kind = 8;"
    "     END IF;"
    "     IF k NOT IN (5, 6, 7) OR p_attempts[i] >= v_last THEN"
    "       DELETE FROM cocabo_leases l"
    "         WHERE l.study = p_study AND l.trial = p_numbers[i];"
    "     END IF;"
    "   END LOOP;"
    "   UPDATE cocabo_studies s SET seq = v_seq + v_count, trials = v_trials"
    "     WHERE s.id = p_study;"
    "   IF v_count < n THEN"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_ids); RETURN;"
    "   END IF;"
    "   problem := NULL;"
    "   FOR i IN 1..n LOOP"
    "     place := v_seq + i; at := coalesce(p_times[i], v_now); RETURN NEXT;"
    "   END LOOP;"
    " END $f$;",

    /* A new study with the events of its log; the same call again finds it. */
    " CREATE FUNCTION cocabo_create(p_name text, p_letters text, p_ids uuid[],"
    "   p_kinds integer[], p_numbers bigint[], p_attempts bigint[], p_named boolean[],"
    "   p_runs boolean[], p_bodies text[], p_sums bigint[], p_times double precision[])"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE plpgsql VOLATILE"
    " SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $f$"
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
    "       AND e.id = p_ids[1];"
    "     IF v_study IS NULL THEN"
    "       RETURN QUERY SELECT 'exists', NULL::bigint, NULL::double precision; RETURN;"
    "     END IF;"
    "     v_found := 'found';"
    "   END IF;"
    "   problem := v_found; place := v_study; at := NULL; RETURN NEXT;"
    "   FOR problem, place, at IN SELECT * FROM cocabo_append(v_study, 0, NULL, -1,"
    "       NULL, 0, true, '{}', p_ids, p_kinds, p_numbers, p_attempts, p_named, "
    "p_runs,"
    "       p_bodies, p_sums, p_times) LOOP"
    "     RETURN NEXT;"
    "     IF problem IS NOT NULL THEN"
    "       DELETE FROM cocabo_studies s WHERE s.id = v_study;"
    "     END IF;"
    "   END LOOP;"
    " END $f$;",

    /* A lease that ends later than one that began now was given by a clock that was
     * ahead: it ends in its own length from now. */
    " CREATE FUNCTION cocabo_renew(p_study bigint, p_owner text,"
    "   p_seconds double precision) RETURNS bigint LANGUAGE plpgsql VOLATILE"
    " SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $f$"
    " DECLARE v_now double precision := extract(epoch FROM clock_timestamp());"
    "   v_id bigint;"
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

/* Leases of runs, each of which is started once. */
static const char *const second[] = {
    "DO $migrate$ BEGIN"
    " PERFORM pg_advisory_xact_lock(1668244321, 1);"
    " IF (SELECT version FROM cocabo_schema) > 1 THEN RETURN; END IF;"
    " UPDATE cocabo_schema SET version = 2;"

    " ALTER TABLE cocabo_leases ADD COLUMN run bigint NOT NULL DEFAULT -1,"
    "   DROP CONSTRAINT cocabo_leases_pkey, ADD PRIMARY KEY (study, trial, run);"
    " CREATE UNIQUE INDEX cocabo_run_by_number"
    "   ON cocabo_events (study, number, attempt) WHERE kind = 11;",

    /* As before, with the same parameters, so that workers of the version before go
     * on. p_runs: of ADDED, whether it runs; of OBSERVED, whether it is discarded. */
    " CREATE OR REPLACE FUNCTION cocabo_append("
    "   p_study bigint, p_seen bigint, p_seen_id uuid, p_next bigint, p_owner text,"
    "   p_seconds double precision, p_durable boolean, p_gone text[], p_ids uuid[],"
    "   p_kinds integer[], p_numbers bigint[], p_attempts bigint[], p_named boolean[],"
    "   p_runs boolean[], p_bodies text[], p_sums bigint[],"
    "   p_times double precision[])"
    " RETURNS TABLE (problem text, place bigint, at double precision)"
    " LANGUAGE plpgsql VOLATILE"
    " SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $f$"
    " DECLARE"
    "   n integer := cardinality(p_ids); k integer; v_known boolean;"
    "   v_now double precision; v_seq bigint; v_trials bigint; v_old bigint;"
    "   v_last bigint; v_count bigint; v_twice boolean;"
    " BEGIN"
    "   IF NOT p_durable THEN"
    "     PERFORM set_config('synchronous_commit', 'off', true);"
    "   ELSIF current_setting('synchronous_commit') = 'off' THEN"
    "     PERFORM set_config('synchronous_commit', 'on', true);"
    "   END IF;"
    /* Whoever is late need not wait for its turn to hear so. */
    "   IF p_next >= 0 THEN"
    "     SELECT s.trials INTO v_trials FROM cocabo_studies s WHERE s.id = p_study;"
    "     IF v_trials > p_next AND NOT EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = p_ids[1]) THEN"
    "       problem := 'taken'; place := p_next; at := v_trials; RETURN NEXT; RETURN;"
    "     END IF;"
    "   END IF;"
    "   SELECT s.seq, s.trials INTO v_seq, v_trials FROM cocabo_studies s"
    "     WHERE s.id = p_study FOR UPDATE;"
    "   IF NOT FOUND THEN problem := 'deleted'; RETURN NEXT; RETURN; END IF;"
    "   v_now := extract(epoch FROM clock_timestamp()); v_old := v_trials;"
    "   FOR i IN 1..n LOOP"
    "     v_known := EXISTS (SELECT FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.id = p_ids[i]);"
    "     EXIT WHEN v_known;"
    "   END LOOP;"
    "   IF v_known AND NOT EXISTS (SELECT FROM cocabo_places(p_study, p_ids) p"
    "       WHERE p.place IS NULL) THEN"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_ids); RETURN;"
    "   END IF;"
    "   IF p_seen_id IS NOT NULL AND NOT EXISTS (SELECT FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.seq = p_seen AND e.id = p_seen_id) THEN"
    "     problem := 'lost'; RETURN NEXT; RETURN;"
    "   END IF;"
    "   IF p_next >= 0 AND p_next <> v_trials THEN"
    "     problem := 'taken'; place := p_next; at := v_trials; RETURN NEXT; RETURN;"
    "   END IF;",

    /* Checks first. */
    "   FOR i IN 1..n LOOP"
    "     k := p_kinds[i];"
    "     IF (k NOT IN (3, 7, 8, 9, 11) AND NOT (k = 12 AND p_runs[i]))"
    "         OR (v_known AND EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = p_ids[i])) THEN CONTINUE; END IF;"
    "     place := p_numbers[i];"
    "     IF k IN (3, 9) THEN"
    "       IF place <> v_trials THEN"
    "         problem := 'taken'; at := v_trials; RETURN NEXT; RETURN;"
    "       END IF;"
    "       v_trials := v_trials + 1; CONTINUE;"
    "     END IF;"
    "     IF k = 11 THEN"
    "       at := p_attempts[i];"
    "       IF place < 0 OR place >= v_trials THEN"
    "         problem := 'run nowhere'; RETURN NEXT; RETURN;"
    "       END IF;"
    "       SELECT coalesce(max(e.attempt), -1) INTO v_last FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.number = place AND e.kind = 11;"
    "       IF place < v_old AND p_attempts[i] <= v_last THEN"
    "         problem := 'run taken'; RETURN NEXT; RETURN;"
    "       END IF;"
    "       CONTINUE;"
    "     END IF;"
    "     IF k = 12 THEN"
    "       at := p_attempts[i];"
    "       IF p_seen_id IS NOT NULL AND EXISTS (SELECT FROM cocabo_events e"
    "           WHERE e.study = p_study AND e.seq > p_seen AND e.number = place"
    "           AND e.attempt = p_attempts[i] AND e.kind = 12) THEN"
    "         problem := 'run ended'; RETURN NEXT; RETURN;"
    "       END IF;"
    "       IF EXISTS (SELECT FROM cocabo_leases l WHERE l.study = p_study"
    "           AND l.trial = place AND l.run = p_attempts[i] AND l.until > v_now"
    "           AND l.owner IS DISTINCT FROM p_owner"
    "           AND NOT l.owner = ANY (p_gone)) THEN"
    "         problem := 'run alive'; RETURN NEXT; RETURN;"
    "       END IF;"
    "       CONTINUE;"
    "     END IF;"
    "     SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "       WHERE e.study = p_study AND e.number = place AND e.kind = 8;"
    "     IF k = 8 AND place < v_old AND p_attempts[i] <= v_last THEN"
    "       problem := 'attempt'; at := p_attempts[i]; RETURN NEXT; RETURN;"
    "     END IF;"
    "     IF k = 7 AND p_seen_id IS NOT NULL AND EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.seq > p_seen AND e.number = place"
    "         AND e.kind IN (4, 5, 6)) THEN"
    "       problem := 'ended'; RETURN NEXT; RETURN;"
    "     END IF;"
    "     IF k = 7 AND p_attempts[i] >= v_last AND EXISTS (SELECT FROM cocabo_leases l"
    "         WHERE l.study = p_study AND l.trial = place AND l.run = -1"
    "         AND l.until > v_now AND NOT l.owner = ANY (p_gone)) THEN"
    "       problem := 'alive'; RETURN NEXT; RETURN;"
    "     END IF;"
    "   END LOOP;",

    /* Then writes; an id may come twice in one call. */
    "   v_twice := n > 1 AND (SELECT count(DISTINCT w.id) < n FROM unnest(p_ids) "
    "w(id));"
    "   INSERT INTO cocabo_events (study, seq, id, time, kind, number, attempt, body,"
    "     checksum) SELECT p_study, v_seq + row_number() OVER (ORDER BY w.i), w.id,"
    "     coalesce(w.time, v_now), w.kind, w.number, w.attempt, w.body, w.sum"
    "     FROM unnest(p_ids, p_kinds, p_numbers, p_attempts, p_bodies, p_sums, p_times)"
    "       WITH ORDINALITY AS w(id, kind, number, attempt, body, sum, time, i)"
    "     WHERE n = 1 OR ((NOT v_known OR NOT EXISTS (SELECT FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.id = w.id))"
    "       AND NOT (v_twice AND EXISTS (SELECT FROM unnest(p_ids)"
    "         WITH ORDINALITY AS o(id, i)"
    "         WHERE o.id = w.id AND o.i < w.i)));"
    "   GET DIAGNOSTICS v_count = ROW_COUNT;"
    "   FOR i IN 1..n LOOP"
    "     k := p_kinds[i]; v_last := 0;"
    "     IF (k NOT BETWEEN 3 AND 9 AND k NOT IN (11, 12))"
    "         OR (k = 9 AND NOT p_runs[i]) THEN CONTINUE; END IF;"
    "     IF v_count < n AND NOT EXISTS (SELECT FROM cocabo_events e WHERE"
    "         e.study = p_study AND e.id = p_ids[i] AND e.seq > v_seq) THEN"
    "       CONTINUE;" /* it was there before */
    "     END IF;"
    "     IF k = 7 OR (k IN (5, 6) AND p_named[i]) THEN"
    "       SELECT coalesce(max(e.attempt), 0) INTO v_last FROM cocabo_events e"
    "         WHERE e.study = p_study AND e.number = p_numbers[i] AND e.kind = 8;"
    "     END IF;"
    "     IF k IN (5, 6, 7) AND p_attempts[i] < v_last THEN CONTINUE; END IF;"
    "     IF k NOT IN (3, 8, 9) OR p_owner IS NULL THEN"
    "       DELETE FROM cocabo_leases l"
    "         WHERE l.study = p_study AND l.trial = p_numbers[i]"
    "         AND l.run = CASE WHEN k = 12 THEN p_attempts[i] ELSE -1 END;"
    "     END IF;"
    "     IF k IN (3, 8, 9, 11) AND p_owner IS NOT NULL THEN"
    "       INSERT INTO cocabo_leases (study, trial, run, owner, until, seconds)"
    "         VALUES (p_study, p_numbers[i],"
    "         CASE WHEN k = 11 THEN p_attempts[i] ELSE -1 END,"
    "         p_owner, v_now + p_seconds, p_seconds)"
    "         ON CONFLICT (study, trial, run) DO UPDATE SET owner = excluded.owner,"
    "         until = excluded.until, seconds = excluded.seconds;"
    "     END IF;"
    "   END LOOP;"
    "   UPDATE cocabo_studies s SET seq = v_seq + v_count, trials = v_trials"
    "     WHERE s.id = p_study;"
    "   IF v_count < n THEN"
    "     RETURN QUERY SELECT * FROM cocabo_places(p_study, p_ids); RETURN;"
    "   END IF;"
    "   problem := NULL;"
    "   FOR i IN 1..n LOOP"
    "     place := v_seq + i; at := coalesce(p_times[i], v_now); RETURN NEXT;"
    "   END LOOP;"
    " END $f$;"
    " END $migrate$",
    NULL};

/* Version i + 1 is made from version i by migrations[i]. They have been run on users'
 * databases: never change one, add the next. */
static const char *const *const migrations[] = {first, second};
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

/* Other processes may be faster, at each step. */
static cocabo_status bring_up_to_date(cb_server *s, int64_t *version,
                                      cocabo_error *err) {
  cocabo_status status = migrate(s, *version, err);
  while (status != COCABO_OK) {
    int64_t found = 0;
    bool can_write = false;
    if (look(s, &found, &can_write, NULL) != COCABO_OK || found <= *version)
      return status;
    *version = found;
    status = migrate(s, *version, err);
  }
  *version = CB_SERVER_SCHEMA_NEWEST;
  return COCABO_OK;
}

cocabo_status cb_server_prepare(cb_server *s, bool create, bool read_only,
                                int64_t *version, cocabo_error *err) {
  bool can_write = false;
  CB_TRY(look(s, version, &can_write, err));
  if (*version > CB_SERVER_SCHEMA_NEWEST)
    return cb_fail(err, COCABO_E_STORE,
                   "the database at %s was made by a newer version of cocabo: its "
                   "schema is %lld, this version knows up to %d",
                   s->where, (long long)*version, CB_SERVER_SCHEMA_NEWEST);
  if (*version == 0 && !create)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "there is no study in the database at %s "
                   "yet",
                   s->where);
  if (!read_only && !can_write)
    return cb_fail(err, COCABO_E_STORE,
                   "cannot write to PostgreSQL at %s: it is a read-only replica, or "
                   "made read-only; want the primary server",
                   s->where);
  if (read_only || *version == CB_SERVER_SCHEMA_NEWEST)
    return COCABO_OK;
  s->what = "bring up to date";
  return bring_up_to_date(s, version, err);
}
