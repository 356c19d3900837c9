# A thin front: the work is done by CMake (CMakePresets.json) and tools/.
JOBS := $(shell nproc)
PREFIX := /usr/local
INSTALL_BUILD := build-install

.PHONY: all run test install uninstall golden bench peers paper arena format clean setup-run setup-test
all: setup-run
	@cmake --preset release -DCOCABO_TESTS=OFF >build.log 2>&1 \
	  && cmake --build --preset release -j $(JOBS) >>build.log 2>&1 \
	  || { tail -n 60 build.log; exit 1; }

# The main job, in well under a minute: cocabo finds how xz packs cocabo best, two trials
# at a time. The same again resumes, and there is nothing left to do.
run: all
	@COCABO=build/cocabo examples/tune-xz/tune.sh build/cocabo -n 40 -j 2 \
	  --storage sqlite:///build/run.db
	@build/cocabo plot --storage sqlite:///build/run.db -o build/run.svg \
	  --study xz-$$(cksum <build/cocabo | cut -d' ' -f1)

test: setup-test
	@tools/test

# A user's build, of what is found here, and nothing set up:
#   make install PREFIX=~/.local [DESTDIR=/tmp/image]     make uninstall
install:
	@cmake -S . -B $(INSTALL_BUILD) -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))"
	@cmake --build $(INSTALL_BUILD) -j $(JOBS)
	@cmake --install $(INSTALL_BUILD)
uninstall:
	@cmake --build $(INSTALL_BUILD) --target uninstall

# What the samplers propose, written down anew; for changes that are meant to move it.
golden: setup-test
	@tools/golden

# The figures we promise; minutes to an hour, not part of the tests.
bench: all
	@tools/setup bench
	@tools/figures

# The experiments of the paper, resumable; hours, and with xg-mnist-10 a day or two.
paper: all
	@tools/paper

# What bench/peers/run needs: other libraries, to compare with.
peers: all
	@bench/peers/setup base

# cocabo and its peers on problems of other people, resumable; about an hour.
arena: all
	@tools/arena

format: setup-test
	@clang-format -i $$(git ls-files '*.c' '*.h' | grep -v tests/oracle/)

clean:
	@rm -rf build build-*

setup-run:
	@tools/setup run
setup-test:
	@tools/setup test
	@tools/python-env
