/* The contract of every sampler there is; or, with arguments, of those named. */
#include "contract/sampler_contract.h"

#include "sampler/sampler.h"

int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++)
    failed += run_sampler_contract(argv[i]);
  for (int i = 0; argc == 1 && cb_sampler_at(i); i++)
    failed += run_sampler_contract(cb_sampler_at(i)->name);
  return failed > 0;
}
