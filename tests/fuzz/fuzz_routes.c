/* Requests of anybody, as the routes see them. The first line is the method, the path
 * and, behind blanks, words for Host, Authorization, Content-Type and Origin; what
 * follows it is the content. There is always an answer: JSON, or a file of the page. */
#include <stdint.h>
#include <string.h>

#include "common/base.h"
#include "fuzz/fuzz_demand.h"
#include "http/routes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A study with a few trials in all states, made anew after each request that wrote. It
 * has a budget, because an ask for a thousand trials takes as long as thousands of
 * other requests. */
static cocabo_study *make_study(cocabo_store *store) {
  static const char *const parameters[][2] = {{"x", "float(1e-3,1,log)"},
                                              {"k", "choice(a,1,true,null)"},
                                              {"d", "int(0,3) if k == a"},
                                              {"o", "ordinal(s,m,l)"}};
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  cocabo_trial *trials[8];
  cocabo_error err;
  for (size_t i = 0; i < 4; i++)
    demand(cocabo_space_add(space, parameters[i][0], parameters[i][1], &err) ==
               COCABO_OK,
           "the space is right");
  demand(cocabo_options_set(options, "sampler", "random", &err) == COCABO_OK &&
             cocabo_options_set(options, "constraints", "m < 5", &err) == COCABO_OK &&
             cocabo_options_set(options, "trials", "24", &err) == COCABO_OK,
         "so are the options");
  demand(cocabo_study_create(&study, "s", space, options, store, &err) == COCABO_OK &&
             cocabo_study_ask(study, 8, trials, &err) == COCABO_OK,
         "there is memory");
  for (int i = 0; i < 8; i++) {
    const cocabo_metric metric = {"m", (double)i};
    demand((i == 6   ? cocabo_study_fail(study, i, "why\nnot", &err)
            : i == 7 ? cocabo_study_report(study, i, 3, 0.5, &err)
                     : cocabo_study_tell_metrics(study, i, (double)(i * 3 % 7), &metric,
                                                 1, &err)) == COCABO_OK,
           "the trials take it");
    cocabo_trial_free(trials[i]);
  }
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

/* Cuts the next word off a line; NULL at its end. */
static const char *next_word(char **at) {
  char *word = *at + strspn(*at, " ");
  if (*word == '\0')
    return NULL;
  *at = word + strcspn(word, " ");
  if (**at)
    *(*at)++ = '\0';
  return word;
}

static void check(const http_response *r) {
  cb_json_tree tree = {0};
  demand(r->status >= 200 && r->status < 600, "there is a status");
  if (r->type && strcmp(r->type, "application/json") == 0 && !r->text) {
    demand(cb_json_read_all(&tree, r->body.data, r->body.size, NULL) == COCABO_OK,
           "the content is JSON");
    demand((cb_json_find(tree.nodes, "error") != NULL) == (r->status != 200),
           "and a refusal says why");
  }
  cb_json_tree_free(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static cocabo_store *store;
  static http_settings settings = {.storage = "memory:", .live = true};
  static http_site site;
  static int64_t made; /* the study's seq as it begins */
  char line[4096];
  const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
  const size_t head = end ? (size_t)(end - data) : size;
  if (head == 0 || head >= sizeof line || memchr(data, '\0', head))
    return 0;
  memcpy(line, data, head);
  line[head] = '\0';
  char *at = line;
  http_request request = {.method = next_word(&at)};
  request.target = request.method ? next_word(&at) : NULL;
  if (!request.method || !request.target)
    return 0;
  request.host = next_word(&at);
  request.authorization = next_word(&at);
  request.content_type = next_word(&at);
  request.origin = next_word(&at);
  request.body = end ? (const char *)end + 1 : NULL;
  request.size = end ? size - head - 1 : 0;
  if (!store) {
    store = cocabo_store_new_memory();
    cocabo_study *study = make_study(store);
    made = cocabo_study_seq(study);
    cocabo_study_free(study);
    site = (http_site){.settings = &settings, .store = store};
  }
  settings.allow_tell = settings.allow_store = request.method[0] == 'P';
  settings.token = request.host && request.host[0] == 'T' ? "T0ken-of-sixteen" : NULL;
  http_response response = {0};
  http_respond(&site, &request, &response);
  check(&response);
  http_response_free(&response);
  const http_study *study = http_site_peek(&site, "s");
  const bool raw = settings.allow_store && strstr(request.target, "/api/store");
  if (raw ||
      (study && cocabo_study_seq(study->handle) != made)) { /* for the next one */
    http_site_close(&site);
    cocabo_store_free(store);
    store = NULL;
  }
  return 0;
}
