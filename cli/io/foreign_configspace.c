/* foreign_configspace.c - reads what ConfigSpace wrote, as JSON or YAML: versions 0.4
 * to 0.7 (default, q, lists of dictionaries) and 1.x (default_value, meta). */
#include <math.h>
#include <string.h>

#include "common/base.h"
#include "io/foreign.h"
#include "io/tree.h"

/* ---- scalars --------------------------------------------------------------------- */

/* NULL where there is none, or null. */
static const tree_node *get(const tree_node *map, const char *key) {
  const tree_node *node = map->kind == TREE_MAP ? tree_find(map, key) : NULL;
  return node && !(node->kind == TREE_SCALAR && node->value.type == COCABO_NULL) ? node
                                                                                 : NULL;
}

static const char *get_text(const tree_node *map, const char *key) {
  const tree_node *node = get(map, key);
  return node && node->kind == TREE_SCALAR ? node->spelling : "";
}

static bool get_number(const tree_node *map, const char *key, double *out) {
  const tree_node *node = get(map, key);
  if (!node || node->kind != TREE_SCALAR)
    return false;
  if (node->value.type == COCABO_INT)
    *out = (double)node->value.as.integer;
  else if (node->value.type == COCABO_REAL)
    *out = node->value.as.real;
  else
    return false;
  return isfinite(*out);
}

static bool is_true(const tree_node *map, const char *key) {
  const tree_node *node = get(map, key);
  return node && node->kind == TREE_SCALAR && node->value.type == COCABO_BOOL &&
         node->value.as.boolean;
}

static cocabo_status lacks(const foreign *f, const tree_node *map, const char *key,
                           cocabo_error *err) {
  return foreign_refuse(f, map->line, err,
                        "there is no %s here, or it is of another kind", key);
}

/* ---- parameters ------------------------------------------------------------------ */

/* A distribution whose bounds are open has them where ConfigSpace would put them. */
static cocabo_status read_spread(foreign *f, foreign_param *p, const tree_node *map,
                                 cocabo_error *err) {
  double mu, sigma;
  if (!get_number(map, "mu", &mu) || !get_number(map, "sigma", &sigma))
    return lacks(f, map, "lower, upper, mu or sigma", err);
  p->low = p->log ? exp(mu - 3.0 * sigma) : mu - 3.0 * sigma;
  p->high = p->log ? exp(mu + 3.0 * sigma) : mu + 3.0 * sigma;
  if (p->kind == COCABO_KIND_INT) {
    p->low = fmax(ceil(p->low), p->log ? 1.0 : -INFINITY);
    p->high = floor(p->high);
  }
  return COCABO_OK;
}

/* Steps begin at the lower bound, in both worlds. */
static cocabo_status read_step(foreign *f, foreign_param *p, const tree_node *map,
                               cocabo_error *err) {
  char shown[CB_SHOWN];
  double q;
  if (!get_number(map, "q", &q) || (p->kind == COCABO_KIND_INT && q == 1.0))
    return COCABO_OK;
  if (!p->log) {
    p->step = q;
    return COCABO_OK;
  }
  return foreign_say(f, map->line, err,
                     "q of \"%s\" is left out: a log scale has no steps here",
                     cb_text_show(shown, p->name));
}

static cocabo_status read_range(foreign *f, foreign_param *p, const tree_node *map,
                                const char *type, cocabo_error *err) {
  char shown[CB_SHOWN];
  p->kind = strstr(type, "int") ? COCABO_KIND_INT : COCABO_KIND_REAL;
  p->log = is_true(map, "log");
  if (!get_number(map, "lower", &p->low) || !get_number(map, "upper", &p->high))
    CB_TRY(read_spread(f, p, map, err));
  CB_TRY(read_step(f, p, map, err));
  if (strncmp(type, "uniform", 7) == 0)
    return COCABO_OK;
  return foreign_say(f, map->line, err,
                     "the distribution of \"%s\" is left out: values from %g to %g are "
                     "all alike%s",
                     cb_text_show(shown, p->name), p->low, p->high,
                     p->log ? " on a log scale" : "");
}

static bool are_alike(const tree_node *weights) {
  for (const tree_entry *e = weights->first; e && e->next; e = e->next)
    if (e->node->kind != TREE_SCALAR || e->next->node->kind != TREE_SCALAR ||
        !cb_value_equal(&e->node->value, &e->next->node->value))
      return false;
  return true;
}

static cocabo_status read_choices(foreign *f, foreign_param *p, const tree_node *map,
                                  const char *key, cocabo_error *err) {
  char shown[CB_SHOWN];
  const tree_node *list = get(map, key);
  if (!list || list->kind != TREE_LIST)
    return lacks(f, map, key, err);
  for (const tree_entry *e = list->first; e; e = e->next) {
    if (e->node->kind != TREE_SCALAR) {
      p->lost = true;
      return foreign_say(
          f, e->line, err, "parameter \"%s\" is left out: one of its choices is a %s",
          cb_text_show(shown, p->name), e->node->kind == TREE_LIST ? "list" : "map");
    }
    CB_TRY(foreign_add_value(f, p, e->node->value, err));
  }
  const tree_node *weights = get(map, "weights");
  if (!weights)
    weights = get(map, "probabilities");
  if (weights && !are_alike(weights))
    return foreign_say(f, weights->line, err,
                       "the weights of \"%s\" are left out: its choices are all alike",
                       cb_text_show(shown, p->name));
  return COCABO_OK;
}

static cocabo_status read_constant(foreign *f, foreign_param *p, const tree_node *map,
                                   cocabo_error *err) {
  const tree_node *value = get(map, "value");
  if (!value || value->kind != TREE_SCALAR)
    return lacks(f, map, "value", err);
  p->kind = COCABO_KIND_CHOICE;
  return foreign_add_value(f, p, value->value, err);
}

static cocabo_status read_param(foreign *f, const tree_node *map, const char *name,
                                cocabo_error *err) {
  char shown[CB_SHOWN];
  foreign_param *p = NULL;
  const char *type = get_text(map, "type");
  if (!*name)
    return lacks(f, map, "name", err);
  CB_TRY(foreign_add_param(f, name, map->line, &p, err));
  p->by_level = true;
  if (strcmp(type, "categorical") == 0) {
    p->kind = COCABO_KIND_CHOICE;
    return read_choices(f, p, map, "choices", err);
  }
  if (strcmp(type, "ordinal") == 0) {
    p->kind = COCABO_KIND_ORDINAL;
    return read_choices(f, p, map, "sequence", err);
  }
  if (strcmp(type, "constant") == 0 || strcmp(type, "unparametrized") == 0)
    return read_constant(f, p, map, err);
  const char *what = strchr(type, '_');
  if (what && (strcmp(what, "_float") == 0 || strcmp(what, "_int") == 0))
    return read_range(f, p, map, type, err);
  return foreign_refuse(f, map->line, err,
                        "the type \"%s\" is not one of ConfigSpace's",
                        cb_text_show(shown, type));
}

/* A list of maps, or a map by name. */
static cocabo_status read_params(foreign *f, const tree_node *all, cocabo_error *err) {
  if (all->kind == TREE_SCALAR)
    return lacks(f, all, "hyperparameters", err);
  for (const tree_entry *e = all->first; e; e = e->next) {
    if (e->node->kind != TREE_MAP)
      return foreign_refuse(f, e->line, err, "a hyperparameter is no map");
    const char *name = get_text(e->node, "name");
    CB_TRY(read_param(f, e->node, *name || !e->key ? name : e->key, err));
  }
  return COCABO_OK;
}

/* ---- clauses --------------------------------------------------------------------- */

typedef struct word {
  const char *type;
  foreign_op op;
} word;

/* Those of conditions, of forbidden clauses, and of relations between two. */
static const word words[] = {{"EQ", FOREIGN_EQ},          {"NEQ", FOREIGN_NE},
                             {"LT", FOREIGN_LT},          {"GT", FOREIGN_GT},
                             {"IN", FOREIGN_IN},          {"AND", FOREIGN_AND},
                             {"OR", FOREIGN_OR},          {"EQUALS", FOREIGN_EQ},
                             {"CLAUSE_LT", FOREIGN_LT},   {"CLAUSE_LE", FOREIGN_LE},
                             {"CLAUSE_GT", FOREIGN_GT},   {"CLAUSE_GE", FOREIGN_GE},
                             {"RELATION_LT", FOREIGN_LT}, {"RELATION_LE", FOREIGN_LE},
                             {"RELATION_EQ", FOREIGN_EQ}, {"RELATION_GT", FOREIGN_GT},
                             {"RELATION_GE", FOREIGN_GE}, {"LESS", FOREIGN_LT},
                             {"GREATER", FOREIGN_GT},     {NULL, FOREIGN_OR}};

static const word *find_word(const char *type) {
  for (const word *w = words; w->type; w++)
    if (strcmp(w->type, type) == 0)
      return w;
  return NULL;
}

static cocabo_status put_name(foreign *f, foreign_expr *to, const tree_node *map,
                              const char *key, cocabo_error *err) {
  const char *name = get_text(map, key);
  if (!*name)
    return lacks(f, map, key, err);
  foreign_expr *e = foreign_node(f, FOREIGN_NAME, map->line, err);
  char *copy = e ? foreign_copy(f, name, strlen(name)) : NULL;
  if (!copy)
    return cb_no_memory(err);
  e->text = copy;
  foreign_append(to, e);
  return COCABO_OK;
}

static cocabo_status put_value(foreign *f, foreign_expr *to, const tree_node *node,
                               cocabo_error *err) {
  if (node->kind != TREE_SCALAR)
    return foreign_refuse(f, node->line, err, "a value is a list or a map");
  foreign_expr *e = foreign_node(f, FOREIGN_VALUE, node->line, err);
  if (!e)
    return COCABO_E_NO_MEMORY;
  e->value = node->value;
  if (node->value.type == COCABO_TEXT) {
    e->value.as.text =
        foreign_copy(f, node->value.as.text, strlen(node->value.as.text));
    if (!e->value.as.text)
      return cb_no_memory(err);
  }
  foreign_append(to, e);
  return COCABO_OK;
}

static cocabo_status read_clause(foreign *f, const tree_node *map, int depth,
                                 foreign_expr **out, cocabo_error *err);

static cocabo_status put_parts(foreign *f, foreign_expr *to, const tree_node *map,
                               int depth, cocabo_error *err) {
  const tree_node *parts = get(map, "conditions");
  foreign_expr *part = NULL;
  if (!parts)
    parts = get(map, "clauses");
  if (!parts || parts->kind != TREE_LIST || !parts->first)
    return lacks(f, map, "conditions or clauses", err);
  for (const tree_entry *e = parts->first; e; e = e->next) {
    CB_TRY(read_clause(f, e->node, depth + 1, &part, err));
    foreign_append(to, part);
  }
  return COCABO_OK;
}

static cocabo_status put_values(foreign *f, foreign_expr *to, const tree_node *map,
                                cocabo_error *err) {
  const tree_node *values = get(map, "values");
  if (!values || values->kind != TREE_LIST)
    return lacks(f, map, "values", err);
  for (const tree_entry *e = values->first; e; e = e->next)
    CB_TRY(put_value(f, to, e->node, err));
  return COCABO_OK;
}

/* Its value may be null, which is a choice. */
static cocabo_status put_sides(foreign *f, foreign_expr *to, const tree_node *map,
                               cocabo_error *err) {
  if (get(map, "left")) {
    CB_TRY(put_name(f, to, map, "left", err));
    return put_name(f, to, map, "right", err);
  }
  CB_TRY(put_name(f, to, map, get(map, "parent") ? "parent" : "name", err));
  if (to->op == FOREIGN_IN)
    return put_values(f, to, map, err);
  const tree_node *value = tree_find(map, "value");
  return value ? put_value(f, to, value, err) : lacks(f, map, "value", err);
}

static cocabo_status read_clause(foreign *f, const tree_node *map, int depth,
                                 foreign_expr **out, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (map->kind != TREE_MAP || depth > FOREIGN_DEPTH)
    return foreign_refuse(f, map->line, err, "a clause is no map, or lies too deep");
  const char *type = get_text(map, "type");
  const word *w =
      find_word(strcmp(type, "RELATION") == 0 ? get_text(map, "lambda") : type);
  if (!w)
    return foreign_refuse(f, map->line, err,
                          "the clause \"%s\" is none of ConfigSpace's",
                          cb_text_show(shown, type));
  foreign_expr *e = foreign_node(f, w->op, map->line, err);
  if (!e)
    return COCABO_E_NO_MEMORY;
  *out = e;
  return w->op == FOREIGN_AND || w->op == FOREIGN_OR ? put_parts(f, e, map, depth, err)
                                                     : put_sides(f, e, map, err);
}

static cocabo_status read_condition(foreign *f, const tree_node *map,
                                    cocabo_error *err) {
  char shown[CB_SHOWN];
  foreign_expr *e = NULL;
  CB_TRY(read_clause(f, map, 0, &e, err));
  foreign_param *p = foreign_find(f, get_text(map, "child"));
  if (!p)
    return foreign_refuse(f, map->line, err,
                          "a condition of \"%s\", which is no hyperparameter",
                          cb_text_show(shown, get_text(map, "child")));
  return foreign_join(f, FOREIGN_AND, &p->condition, e, err);
}

static cocabo_status read_forbidden(foreign *f, const tree_node *map,
                                    cocabo_error *err) {
  foreign_expr *e = NULL;
  CB_TRY(read_clause(f, map, 0, &e, err));
  foreign_forbid(f, e);
  return COCABO_OK;
}

static cocabo_status each(foreign *f, const tree_node *root, const char *key,
                          cocabo_status (*read)(foreign *, const tree_node *,
                                                cocabo_error *),
                          cocabo_error *err) {
  const tree_node *list = get(root, key);
  if (list && list->kind == TREE_SCALAR)
    return lacks(f, root, key, err);
  for (const tree_entry *e = list ? list->first : NULL; e; e = e->next)
    CB_TRY(read(f, e->node, err));
  return COCABO_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

static cocabo_status read_root(foreign *f, const tree_node *root, cocabo_error *err) {
  const tree_node *all =
      root && root->kind == TREE_MAP ? get(root, "hyperparameters") : NULL;
  if (!all)
    return foreign_refuse(f, root ? root->line : 0, err,
                          "there are no hyperparameters, as ConfigSpace writes them");
  CB_TRY(read_params(f, all, err));
  CB_TRY(each(f, root, "conditions", read_condition, err));
  return each(f, root, "forbiddens", read_forbidden, err);
}

cocabo_status foreign_read_configspace(foreign *f, const char *text, size_t size,
                                       cocabo_error *err) {
  tree *t = NULL;
  CB_TRY(tree_parse(&t, f->name, text, size, err));
  const cocabo_status status = read_root(f, tree_root(t), err);
  tree_free(t);
  return status;
}
