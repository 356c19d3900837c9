# Tunes a program with irace and prints what it names as best, as JSON:
#   Rscript irace.R PROGRAM LIST PARAMETERS RUNS SEED TEST
# LIST has one instance a line, PARAMETERS is a file as irace reads it, TEST is
# irace's testType. What irace says goes to standard error.
suppressMessages(library(irace))
given <- commandArgs(trailingOnly = TRUE)
used <- 0

target <- function(experiment, scenario) {
  used <<- used + 1
  words <- buildCommandLine(experiment$configuration, experiment$switches)
  said <- system(paste(given[1], "solve", experiment$instance, experiment$seed, words),
                 intern = TRUE)
  list(cost = as.numeric(said[1]))
}

sink(stderr())
scenario <- defaultScenario(list(
  targetRunner = target, instances = readLines(given[2]),
  maxExperiments = as.integer(given[4]), seed = as.integer(given[5]),
  testType = given[6], digits = 6, logFile = "", debugLevel = 0))
found <- irace(scenario, readParameters(file = given[3], digits = 6))
sink()
best <- removeConfigurationsMetaData(found[1, , drop = FALSE])
shown <- sapply(names(best), function(name) {
  value <- best[[name]]
  sprintf("\"%s\": %s", name, if (is.na(value)) "null"
          else if (is.numeric(value)) format(value, digits = 9)
          else paste0("\"", value, "\""))
})
cat(sprintf("{\"runs\": %d, \"params\": {%s}}\n", used, paste(shown, collapse = ", ")))
