# clang-tidy over the sources that have not passed since they, a header or a setting
# changed; build/ must have its compile_commands.json. Stamps are in build-tidy/.
#   make -f tools/tidy.mk -j 2
SOURCES := $(shell git ls-files 'src/*.c' 'common/*.c' 'http/*.c' 'cli/*.c' 'bench/*.c')
SHARED := $(shell git ls-files '*.h' '*.cmake' '*CMakeLists.txt') .clang-tidy
STAMPS := $(SOURCES:%.c=build-tidy/%.ok)

all: $(STAMPS)
$(STAMPS): build-tidy/%.ok: %.c $(SHARED)
	@mkdir -p $(@D)
	@clang-tidy --quiet -p build $< 2>/dev/null
	@touch $@
