# Points, with irace's word on whether they are legal, for parameters.txt and
# forbidden.txt here: Rscript tests/cli/foreign/make.R, in this folder, with irace 3.5.
library(irace)
set.seed(7)
n <- 60
parameters <- readParameters("parameters.txt", digits = 15)
forbidden <- lapply(parse("forbidden.txt"), identity)
drawn <- irace:::sampleUniform(parameters, 40 * n, digits = 15)[, parameters$names]

is_legal <- function(point) {
  for (name in parameters$names) {
    active <- isTRUE(parameters$conditions[[name]]) ||
      irace:::conditionsSatisfied(parameters, point, name)
    if (active == is.na(point[[name]])) return(FALSE)
  }
  for (clause in forbidden)
    if (isTRUE(eval(clause, point))) return(FALSE)
  TRUE
}

# Names of numbers are numbers; the values of choices are text to irace.
number <- function(x) format(x, digits = 17, scientific = FALSE, trim = TRUE)
put <- function(point, legal) {
  said <- c()
  for (name in parameters$names)
    if (!is.na(point[[name]]))
      said <- c(said, sprintf("\"%s\": %s", name,
        if (parameters$types[[name]] %in% c("c", "o")) dQuote(point[[name]], FALSE)
        else number(point[[name]])))
  cat(sprintf("{\"params\": {%s}, \"legal\": %s}\n", paste(said, collapse = ", "),
              if (legal) "true" else "false"), file = out)
}

out <- file("irace.points", "w")
legal <- Filter(function(i) is_legal(drawn[i, ]), seq_len(nrow(drawn)))
for (i in legal[1:n]) put(drawn[i, ], TRUE)
left <- n
while (left > 0) {
  point <- drawn[sample(nrow(drawn), 1), ]
  name <- sample(parameters$names, 1)
  point[[name]] <- drawn[sample(nrow(drawn), 1), name]
  if (!is_legal(point)) {
    put(point, FALSE)
    left <- left - 1
  }
}
close(out)
