# A thin front: the work is done by CMake (CMakePresets.json) and tools/.
JOBS := $(shell nproc)

.PHONY: all run test bench format clean setup-run setup-test
all: setup-run
	@cmake --preset release -DCOCABO_TESTS=OFF >build.log 2>&1 \
	  && cmake --build --preset release -j $(JOBS) >>build.log 2>&1 \
	  || { tail -n 60 build.log; exit 1; }

# The main job, in well under a minute: the paper's method on its first problem.
run: all
	@build/cocabo-bench run --problem func-2c --method random,cocabo-0.5,mixed \
	  --seeds 0-3 --iterations 100 --jobs $(JOBS) -o build/func-2c.csv
	@build/cocabo-bench table build/func-2c.csv --at 0,25,50,100

test: setup-test
	@tools/test

# The figures we promise; minutes to an hour, not part of the tests.
bench: all
	@tools/figures

format: setup-test
	@clang-format -i $$(git ls-files '*.c' '*.h' | grep -v tests/oracle/)

clean:
	@rm -rf build build-*

setup-run:
	@tools/setup run
setup-test:
	@tools/setup test
