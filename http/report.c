/* report.c - the page with its data inside: one HTML file that is opened from anywhere.
 *
 * The documents are those that the routes give, under their paths; only the trials are
 * thinned where they are too many.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/call.h"
#include "http/columns.h"
#include "http/page.h"
#include "http/sha256.h"

enum {
  SLICES = 40,  /* parameters that have one, */
  CONTOURS = 5, /* and those that have contours with each other: the most important */
  TARGET = 4 * HTTP_TARGET_MAX
};

/* ---- paths ----------------------------------------------------------------------- */

/* As encodeURIComponent of JavaScript does it, so that keys are equal. */
static void put_encoded(char *out, size_t room, const char *text) {
  size_t at = strlen(out);
  for (; *text && at + 4 < room; text++) {
    const unsigned char c = (unsigned char)*text;
    const bool plain =
        (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (plain || strchr("-_.!~*'()", c)) {
      out[at++] = (char)c;
    } else {
      snprintf(out + at, room - at, "%%%02X", c);
      at += 3;
    }
  }
  out[at] = '\0';
}

static void name_path(char out[TARGET], const char *study, const char *rest) {
  strcpy(out, "/api/studies/");
  put_encoded(out, TARGET / 2, study);
  strcat(out, rest);
}

/* ---- documents ------------------------------------------------------------------- */

/* The shares that a document of importances has: it takes seconds to make. */
static void read_shares(const front_buffer *document, double *shares) {
  cb_json_tree tree = {0};
  size_t i = 0;
  if (cb_json_read_all(&tree, document->data, document->size, NULL) == COCABO_OK) {
    const cb_json_node *list = cb_json_find(tree.nodes, "parameters");
    for (const cb_json_node *p = cb_json_first(list); p && i < COCABO_MAX_PARAMETERS;
         p = cb_json_next(list, p))
      (void)cb_json_number(cb_json_find(p, "share"), &shares[i++]);
  }
  cb_json_tree_free(&tree);
}

/* The document that the route gives for a key and more of a query, or {"error": ..}.
 * `shares`, which may be NULL, is what it says of importances. */
static cocabo_status put_document(http_site *site, http_json *json, const char *key,
                                  const char *more, double *shares, cocabo_error *err) {
  char target[TARGET];
  snprintf(target, sizeof target, "%s%s", key, more);
  const http_request request = {.method = "GET", .target = target};
  http_response response = {0};
  http_respond(site, &request, &response);
  if (response.status == 503 || response.status == 500) {
    http_response_free(&response);
    return cb_fail(err, COCABO_E_STORE, "%s cannot be read", key);
  }
  if (shares)
    read_shares(&response.body, shares);
  http_key(json, key);
  http_raw(json, response.body.data, response.body.size);
  http_response_free(&response);
  return COCABO_OK;
}

static cocabo_status put_list(http_site *site, http_json *json,
                              const char *const *studies, size_t n, cocabo_error *err) {
  http_response response = {0};
  http_call call = {site, NULL, NULL, &response, *json, NULL};
  cocabo_status status = COCABO_OK;
  http_study *open;
  for (size_t i = 0; i < n; i++) /* so that each has its curve */
    CB_TRY(http_site_study(site, studies[i], &open, err));
  http_key(&call.json, "/api/studies");
  http_open(&call.json, '{');
  http_put_integer(&call.json, "total", (int64_t)n);
  http_key(&call.json, "studies");
  http_open(&call.json, '[');
  for (size_t i = 0; i < n && status == COCABO_OK; i++)
    status = http_put_listed(&call, studies[i], err);
  http_close(&call.json, ']');
  http_close(&call.json, '}');
  *json = call.json;
  return status;
}

/* ---- slices and contours --------------------------------------------------------- */

typedef struct rank {
  size_t param;
  double share;
} rank;

static int by_share(const void *a, const void *b) {
  const rank *x = a, *y = b;
  if (x->share != y->share)
    return x->share > y->share ? -1 : 1;
  return (x->param > y->param) - (x->param < y->param);
}

static int by_param(const void *a, const void *b) {
  const rank *x = a, *y = b;
  return (x->param > y->param) - (x->param < y->param);
}

/* The most important parameters, in the order of the space; the first ones where that
 * cannot be said. */
static size_t choose(const double *shares, size_t d, rank *out, size_t most) {
  for (size_t i = 0; i < d; i++)
    out[i] = (rank){i, shares[i]};
  qsort(out, d, sizeof *out, by_share);
  const size_t n = d < most ? d : most;
  qsort(out, n, sizeof *out, by_param);
  return n;
}

static cocabo_status put_section(http_site *site, http_json *json, const char *study,
                                 const char *x, const char *y, cocabo_error *err) {
  static const char contour[] = "&points=16";
  char key[TARGET];
  name_path(key, study, "/predictions?x=");
  put_encoded(key, TARGET, x);
  if (y) {
    strcat(key, "&y=");
    put_encoded(key, TARGET, y);
  }
  return put_document(site, json, key, y ? contour : "", NULL, err);
}

static cocabo_status put_sections(http_site *site, http_json *json, const char *name,
                                  const double *shares, cocabo_error *err) {
  http_study *study;
  rank ranks[COCABO_MAX_PARAMETERS];
  CB_TRY(http_site_study(site, name, &study, err));
  const cocabo_space *space = cocabo_study_space(study->handle);
  const size_t d = cocabo_space_count(space);
  size_t n = choose(shares, d, ranks, SLICES);
  for (size_t i = 0; i < n; i++)
    CB_TRY(put_section(site, json, name, cocabo_space_name(space, ranks[i].param), NULL,
                       err));
  n = choose(shares, d, ranks, CONTOURS);
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++)
      CB_TRY(put_section(site, json, name, cocabo_space_name(space, ranks[i].param),
                         cocabo_space_name(space, ranks[j].param), err));
  return COCABO_OK;
}

/* ---- trials ---------------------------------------------------------------------- */

static cocabo_status write_columns(const http_study *study, size_t most, http_json *out,
                                   cocabo_error *err) {
  int64_t *numbers;
  size_t n;
  CB_TRY(http_thin(study, most, &numbers, &n, err));
  http_open(out, '{');
  http_put_integer(out, "seq", study->seq);
  http_put_integer(out, "next", study->seq);
  http_put_flag(out, "more", false);
  http_put_integer(out, "count", study->n);
  http_put_flag(out, "thinned", n < (size_t)study->n);
  const cocabo_status status = http_put_columns(out, study, numbers, n, err);
  http_close(out, '}');
  cb_free(numbers);
  return status != COCABO_OK ? status : out->status;
}

/* In at most `room` bytes, or nearly: the trials are as long as their sample is. */
static cocabo_status put_columns(http_site *site, http_json *json, const char *name,
                                 size_t room, cocabo_error *err) {
  char key[TARGET];
  http_study *study;
  http_json columns = {.err = err};
  CB_TRY(http_site_study(site, name, &study, err));
  size_t most = (size_t)study->n;
  cocabo_status status = write_columns(study, most, &columns, err);
  for (int i = 0; i < 4 && status == COCABO_OK && columns.out.size > room; i++) {
    most = (size_t)((double)most * 0.97 * (double)room / (double)columns.out.size);
    front_buffer_free(&columns.out);
    columns = (http_json){.err = err};
    status = write_columns(study, most, &columns, err);
  }
  name_path(key, name, "/columns");
  http_key(json, key);
  http_raw(json, columns.out.data, columns.out.size);
  front_buffer_free(&columns.out);
  return status;
}

static cocabo_status put_study(http_site *site, http_json *json, const char *name,
                               cocabo_error *err) {
  static const char *const parts[] = {
      "",         "/best",       "/history",      "/importances",
      "/beliefs", "/categories", "/intermediate", "/workers"};
  char key[TARGET];
  double shares[COCABO_MAX_PARAMETERS] = {0};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    name_path(key, name, parts[i]);
    const bool ranks = strcmp(parts[i], "/importances") == 0;
    CB_TRY(put_document(site, json, key, "", ranks ? shares : NULL, err));
  }
  return put_sections(site, json, name, shares, err);
}

static cocabo_status put_data(http_site *site, const char *const *studies, size_t n,
                              size_t most, http_json *json, cocabo_error *err) {
  http_open(json, '{');
  CB_TRY(put_document(site, json, "/api", "", NULL, err));
  CB_TRY(put_list(site, json, studies, n, err));
  for (size_t i = 0; i < n; i++)
    CB_TRY(put_study(site, json, studies[i], err));
  const size_t used = json->out.size, room = most > used ? most - used : 0;
  for (size_t i = 0; i < n; i++)
    CB_TRY(put_columns(site, json, studies[i], room / n, err));
  http_close(json, '}');
  return json->status;
}

/* ---- the page -------------------------------------------------------------------- */

/* Inside a script element `<` could end it; in JSON it only stands in texts. */
static cocabo_status put_escaped(front_buffer *out, const char *text, size_t size,
                                 cocabo_error *err) {
  while (size > 0) {
    const char *found = memchr(text, '<', size);
    const size_t plain = found ? (size_t)(found - text) : size;
    CB_TRY(front_buffer_append(out, text, plain, err));
    if (found)
      CB_TRY(front_buffer_puts(out, "\\u003c", err));
    text += plain + (found != NULL);
    size -= plain + (found != NULL);
  }
  return COCABO_OK;
}

static cocabo_status get_file(const char *path, http_response *out, cocabo_error *err) {
  http_target target;
  CB_TRY(http_target_read(&target, path, err));
  http_page_answer(http_page_find(&target), out);
  return COCABO_OK;
}

/* Nothing but what is in the file may run. */
static cocabo_status put_policy(front_buffer *out, const http_response *css,
                                const http_response *js, cocabo_error *err) {
  char style[HTTP_HASH], script[HTTP_HASH];
  http_hash(css->text, css->text_size, style);
  http_hash(js->text, js->text_size, script);
  return front_buffer_printf(
      out, err,
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; "
      "form-action 'none'\">\n",
      script, style);
}

static const char style_line[] = "<link rel=\"stylesheet\" href=\"page.css\">",
                  script_line[] = "<script type=\"module\" src=\"page.js\"></script>";

static cocabo_status put_between(front_buffer *out, const char *before,
                                 const char *text, size_t size, const char *after,
                                 cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, before, err));
  CB_TRY(front_buffer_append(out, text, size, err));
  return front_buffer_puts(out, after, err);
}

static const char *find_line(const char *html, size_t size, const char *line) {
  for (size_t i = 0; i + strlen(line) <= size; i++)
    if (memcmp(html + i, line, strlen(line)) == 0)
      return html + i;
  return NULL;
}

static cocabo_status put_page(front_buffer *out, const front_buffer *data,
                              cocabo_error *err) {
  http_response html = {0}, css = {0}, js = {0};
  CB_TRY(get_file("/", &html, err));
  CB_TRY(get_file("/page.css", &css, err));
  CB_TRY(get_file("/page.js", &js, err));
  const char *style = find_line(html.text, html.text_size, style_line);
  const char *script = find_line(html.text, html.text_size, script_line);
  if (!style || !script || script < style)
    return cb_fail(err, COCABO_E_INTERNAL, "the page has lost its style or its script");
  CB_TRY(front_buffer_append(out, html.text, (size_t)(style - html.text), err));
  CB_TRY(put_policy(out, &css, &js, err));
  CB_TRY(put_between(out, "<style>", css.text, css.text_size, "</style>", err));
  style += strlen(style_line);
  CB_TRY(front_buffer_append(out, style, (size_t)(script - style), err));
  CB_TRY(front_buffer_puts(out, "<script type=\"application/json\" id=\"cocabo-data\">",
                           err));
  CB_TRY(put_escaped(out, data->data, data->size, err));
  CB_TRY(front_buffer_puts(out, "</script>\n", err));
  CB_TRY(put_between(out, "<script type=\"module\">", js.text, js.text_size,
                     "</script>", err));
  script += strlen(script_line);
  return front_buffer_append(out, script, html.text_size - (size_t)(script - html.text),
                             err);
}

cocabo_status http_report(http_site *site, const char *const *studies, size_t n,
                          size_t most, front_buffer *out, cocabo_error *err) {
  http_json json = {.err = err};
  cocabo_status status = put_data(site, studies, n, most, &json, err);
  if (status == COCABO_OK)
    status = put_page(out, &json.out, err);
  front_buffer_free(&json.out);
  return status;
}
