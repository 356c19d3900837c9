/* One program being run: its output, its end, and the ends of those it leaves behind.
 * Graces are measured on a clock of the test's own: however slow the machine is, they
 * are over when the test says so. */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "common/clock.h"
#include "run/outcome.h"

extern char **environ;

static cli_guard guard;
static cli_process process; /* large: not on the stack */

static int set_up(void **state) {
  (void)state;
  cocabo_error err;
  return cli_guard_start(&guard, &err) == COCABO_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  cli_guard_stop(&guard);
  return 0;
}

static void start(const char *script) {
  char *const argv[] = {"sh", "-c", (char *)script, NULL};
  const cli_start what = {.path = "/bin/sh",
                          .argv = argv,
                          .envp = environ,
                          .guard = &guard,
                          .logs = {-1, -1}};
  cocabo_error err;
  assert_ok(cli_process_start(&process, &what, &err));
}

static double test_clock = 1000.0;    /* seconds */
static const double PATIENCE = 120.0; /* of ours, with what should have happened */

static void read_what_there_is(void) {
  struct pollfd files[CLI_PROCESS_FILES];
  const int n = cli_process_files(&process, files);
  if (poll(files, (nfds_t)n, 5) > 0)
    for (int i = 0; i < n; i++)
      if (files[i].revents)
        cli_process_read(&process, files[i].fd);
}

static bool is_over(void) {
  return cli_process_tick(&process, test_clock);
}

/* Waits until it is over, while the clock takes `step` seconds at each look. */
static void finish(double step) {
  for (const double start_time = front_now(); !is_over(); test_clock += step) {
    read_what_there_is();
    if (front_now() - start_time > PATIENCE)
      fail_msg("not over after %g s", PATIENCE);
  }
}

static void assert_goes_on(void) {
  for (int i = 0; i < 20; i++) {
    assert_false(is_over());
    read_what_there_is();
  }
}

/* Until it has written something. */
static void wait_for_output(void) {
  struct pollfd file = {.fd = process.out, .events = POLLIN};
  assert_int_equal(poll(&file, 1, (int)(1000 * PATIENCE)), 1);
  cli_process_read(&process, process.out);
}

static void run(const char *script, cli_outcome *out) {
  char result[300];
  snprintf(result, sizeof result, "%s/result", guard.folder);
  unlink(result);
  setenv("COCABO_RESULT", result, 1);
  start(script);
  finish(0.005);
  cli_outcome_read(out, &process, result, "value", false);
}

static void assert_completes(const char *script, double value) {
  cli_outcome out;
  run(script, &out);
  if (!out.complete)
    fail_msg("%s: %s", script, out.reason);
  assert_close(out.value, value, 1e-15);
}

static void assert_reason(const char *script, const char *reason) {
  cli_outcome out;
  run(script, &out);
  assert_false(out.complete);
  assert_string_equal(out.reason, reason);
}

/* ---- values and reasons --------------------------------------------------------- */

static void the_value_is_the_last_line_or_the_result_file(void **state) {
  (void)state;
  assert_completes("echo 3; echo 0.731; echo; echo '  '", 0.731);
  assert_completes("printf 0.731", 0.731);
  assert_completes("echo '{\"value\": 0.25, \"epochs\": 7}'", 0.25);
  assert_completes("echo 5; echo 0.5 >\"$COCABO_RESULT\"", 0.5);
  assert_completes("printf '{\\n \"value\": 0.5\\n}' >\"$COCABO_RESULT\"", 0.5);
  assert_completes("echo 5; : >\"$COCABO_RESULT\"", 5.0);
  assert_completes("echo 5; mkfifo \"$COCABO_RESULT\"", 5.0);
}

static void failures_say_why(void **state) {
  (void)state;
  assert_reason("echo 0.5; echo oh no >&2; exit 7", "exit status 7\noh no");
  assert_reason("echo 0.5; kill -9 $$", "ended by signal 9 (Killed)");
  assert_reason("true", "no value\nit printed nothing and wrote no result");
  assert_reason("echo 1; echo done; echo hm >&2",
                "no value\nthe last line of its output is \"done\", want a number or "
                "{\"value\": number}\nhm");
  assert_reason("echo nan", "the value is nan, want a finite number");
  assert_reason("echo -1e999", "the value is -inf, want a finite number");
  assert_reason("echo 1; echo abc >\"$COCABO_RESULT\"",
                "no value\nits result file is \"abc\n\", want a number or {\"value\": "
                "number}");
}

static void large_outputs_neither_block_nor_grow(void **state) {
  (void)state;
  assert_completes("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo 4.5", 4.5);
  assert_completes("yes complaint | head -n 3000000 >&2; echo 4.5", 4.5);
  assert_reason("head -c 70000 /dev/zero | tr '\\0' 7",
                "no value\nthe last line of its output is too long");
  cli_outcome out;
  run("yes complaint | head -n 100000 >&2; exit 1", &out);
  assert_true(strlen(out.reason) > 4000 && strlen(out.reason) < CLI_REASON_SIZE);
  assert_memory_equal(out.reason, "exit status 1\n", 14);
}

/* ---- the child's surroundings --------------------------------------------------- */

static void standard_input_is_empty_and_there_is_no_terminal(void **state) {
  (void)state;
  assert_completes("cat | wc -c", 0.0);
  assert_completes("if (: </dev/tty) 2>/dev/null; then echo 1; else echo 2; fi", 2.0);
}

/* Files that whoever started this test passes on to everybody. */
static int inherited_files(void) {
  int n = 0;
  for (int fd = 3; fd < 1024; fd++) {
    const int flags = fcntl(fd, F_GETFD);
    n += flags >= 0 && !(flags & FD_CLOEXEC);
  }
  return n;
}

static void none_of_our_files_is_open(void **state) {
  (void)state;
  /* Standard input, output and error, and ls has one of its own. */
  assert_completes("ls /proc/self/fd | wc -l", 4.0 + inherited_files());
}

static void signals_are_as_usual(void **state) {
  (void)state;
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &old);
  assert_reason("kill -TERM $$; sleep 9", "ended by signal 15 (Terminated)");
  assert_reason("kill -PIPE $$; sleep 9", "ended by signal 13 (Broken pipe)");
  sigprocmask(SIG_SETMASK, &old, NULL);
}

static void a_script_without_an_interpreter_is_for_the_shell(void **state) {
  (void)state;
  char path[300];
  snprintf(path, sizeof path, "%s/script", guard.folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("echo \"$#$1\"\n", file);
  fclose(file);
  assert_int_equal(chmod(path, 0700), 0);
  char *const argv[] = {path, "7", NULL};
  const cli_start what = {
      .path = path, .argv = argv, .envp = environ, .guard = &guard, .logs = {-1, -1}};
  cocabo_error err;
  assert_ok(cli_process_start(&process, &what, &err));
  finish(0.005);
  cli_outcome out;
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
  assert_close(out.value, 17.0, 0.0);
}

static void a_program_that_cannot_start_is_a_sentence(void **state) {
  (void)state;
  char *const argv[] = {"/no/such/program", NULL};
  const cli_start what = {.path = argv[0],
                          .argv = argv,
                          .envp = environ,
                          .guard = &guard,
                          .logs = {-1, -1}};
  cocabo_error err;
  assert_fails(cli_process_start(&process, &what, &err), COCABO_E_NOT_FOUND,
               "cannot start /no/such/program: No such file or directory");
  assert_int_equal(process.pid, 0);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* the guard is the only child */
}

/* ---- ends ----------------------------------------------------------------------- */

/* As /proc shows it: R, S, T (stopped), Z ...; '-' if there is none. */
static char state_of(pid_t pid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file)
    return '-';
  const bool read_it = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  const char *after = strrchr(text, ')');
  return read_it && after ? after[2] : '-';
}

static bool is_alive(pid_t pid) {
  return state_of(pid) != '-' && state_of(pid) != 'Z';
}

/* A killed orphan takes a moment to go. */
static void assert_gone(pid_t pid) {
  for (int i = 0; i < 100 * PATIENCE; i++) {
    if (!is_alive(pid))
      return; /* looking once more might meet another process of that number */
    poll(NULL, 0, 10);
  }
  fail_msg("process %d is still there", (int)pid);
}

static void a_grandchild_with_the_pipe_does_not_hold_us_up(void **state) {
  (void)state;
  cli_outcome out;
  start("sleep 600 & echo $!");
  finish(0.0); /* it waits for time to pass: it has nothing to say */
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
  assert_gone((pid_t)out.value);
}

static void a_busy_grandchild_with_the_pipe_is_given_a_moment(void **state) {
  (void)state;
  cli_outcome out;
  start("sh -c 'while :; do :; done' & echo $!");
  while (!process.exited) {
    assert_false(is_over());
    read_what_there_is();
  }
  const double exited = front_now();
  finish(0.0); /* it might pass something on, but not for ever */
  assert_true(front_now() - exited > 0.2);
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
  assert_gone((pid_t)out.value);
}

/* However late we come to look. */
static void output_after_the_end_is_not_the_programs(void **state) {
  (void)state;
  cli_outcome out;
  char script[2 * CLI_FOLDER_SIZE + 100];
  snprintf(script, sizeof script,
           "(while ! test -e %s/go; do sleep 0.01; done; echo 999; echo 1 >%s/gone) &"
           "echo 0.731",
           guard.folder, guard.folder);
  start(script);
  while (is_alive(process.pid))
    poll(NULL, 0, 5);
  struct pollfd line = {.fd = process.line, .events = POLLIN};
  while (!process.settled) {
    assert_int_equal(poll(&line, 1, (int)(1000 * PATIENCE)), 1);
    cli_process_read(&process, process.line);
  }
  char path[CLI_FOLDER_SIZE + 10];
  snprintf(path, sizeof path, "%s/go", guard.folder);
  close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  snprintf(path, sizeof path, "%s/gone", guard.folder);
  for (int i = 0; i < 100 * PATIENCE && access(path, F_OK) != 0; i++)
    poll(NULL, 0, 10);
  finish(0.0);
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
  assert_close(out.value, 0.731, 1e-15);
}

static void output_on_its_way_is_the_programs(void **state) {
  (void)state;
  cli_outcome out;
  char *const argv[] = {"bash", "-c",
                        "exec > >(cat | cat | cat); seq 100000; echo 0.731", NULL};
  const cli_start what = {.path = "/bin/bash",
                          .argv = argv,
                          .envp = environ,
                          .guard = &guard,
                          .logs = {-1, -1}};
  cocabo_error err;
  for (int i = 0; i < 10; i++) {
    assert_ok(cli_process_start(&process, &what, &err));
    if (i % 2) /* nobody reads: they wait for room */
      poll(NULL, 0, 50);
    finish(0.0);
    cli_outcome_read(&out, &process, "", "value", false);
    assert_true(out.complete);
    assert_close(out.value, 0.731, 1e-15);
  }
}

/* Its number, from the first line of its output. */
static pid_t number_in_output(cli_process *p) {
  struct pollfd file = {.fd = p->out, .events = POLLIN};
  assert_int_equal(poll(&file, 1, (int)(1000 * PATIENCE)), 1);
  cli_process_read(p, p->out);
  bool cut;
  return (pid_t)atoi(cli_last_line_end(&p->last, &cut));
}

/* Two at once, each with a descendant that kept neither group, session, parent nor
 * environment: ending one leaves the other's alone. */
static void each_has_its_own_descendants(void **state) {
  (void)state;
  static cli_process other;
  const char *const script =
      "(env -i /usr/bin/setsid /bin/sh -c 'echo $$; exec /bin/sleep 600' &); sleep 600";
  start(script);
  other = process;
  const pid_t theirs = number_in_output(&other);
  start(script);
  const pid_t ours = number_in_output(&process);
  assert_true(is_alive(ours) && is_alive(theirs));
  cli_process_stop(&process, CLI_TIMED_OUT, test_clock);
  finish(0.0);
  assert_gone(ours);
  assert_true(is_alive(theirs));
  process = other;
  cli_process_kill(&process);
  assert_gone(theirs);
}

static void a_program_that_has_ended_is_not_stopped(void **state) {
  (void)state;
  cli_outcome out;
  start("echo 0.731");
  while (is_alive(process.pid)) /* nobody looks meanwhile */
    poll(NULL, 0, 5);
  struct pollfd line = {.fd = process.line, .events = POLLIN};
  assert_int_equal(poll(&line, 1, (int)(1000 * PATIENCE)), 1);
  cli_process_stop(&process, CLI_TIMED_OUT, test_clock);
  finish(0.0);
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
}

static void a_killed_keeper_takes_the_program_along(void **state) {
  (void)state;
  cli_outcome out;
  start("echo 1; sleep 600");
  wait_for_output();
  kill(process.keeper, SIGKILL);
  finish(0.0);
  assert_gone(process.pid);
  cli_outcome_read(&out, &process, "", "value", false);
  assert_string_equal(out.reason, "ended by signal 9 (Killed)");
}

static void a_stopped_keeper_hears_us_all_the_same(void **state) {
  (void)state;
  start("echo 1; sleep 600");
  wait_for_output();
  kill(process.keeper, SIGSTOP);
  for (int i = 0; i < 100 * PATIENCE && state_of(process.keeper) != 'T'; i++)
    poll(NULL, 0, 10);
  cli_process_stop(&process, CLI_TIMED_OUT, test_clock);
  finish(0.0);
  assert_gone(process.pid);
  start("echo 1; sleep 600");
  wait_for_output();
  kill(process.keeper, SIGSTOP);
  cli_process_kill(&process);
  assert_gone(process.pid);
}

/* One above the n-th file that would be opened next. */
static rlim_t room_for(int n) {
  int files[16], highest = 0;
  for (int i = 0; i < n; i++) {
    files[i] = open("/dev/null", O_RDONLY);
    assert_true(files[i] >= 0);
    highest = files[i] > highest ? files[i] : highest;
  }
  for (int i = 0; i < n; i++)
    close(files[i]);
  return (rlim_t)highest + 1;
}

/* Three pipes and a socket have two ends each. */
static void no_files_are_needed_beyond_the_pipes(void **state) {
  (void)state;
  cli_outcome out;
  struct rlimit old;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  const struct rlimit few = {room_for(8), old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  char *const argv[] = {"sh", "-c", "[ /dev/stdin -ef /dev/null ] && echo 7", NULL};
  const cli_start what = {.path = "/bin/sh",
                          .argv = argv,
                          .envp = environ,
                          .guard = &guard,
                          .logs = {-1, -1}};
  cocabo_error err = {0};
  const cocabo_status status = cli_process_start(&process, &what, &err);
  setrlimit(RLIMIT_NOFILE, &old);
  assert_string_equal(err.message, "");
  assert_int_equal(status, COCABO_OK);
  finish(0.005);
  cli_outcome_read(&out, &process, "", "value", false);
  assert_true(out.complete);
}

static bool are_stopped(const pid_t pids[2], bool stopped) {
  return (state_of(pids[0]) == 'T') == stopped && (state_of(pids[1]) == 'T') == stopped;
}

static void its_processes_can_be_suspended(void **state) {
  (void)state;
  start("setsid sleep 600 & echo $!; wait");
  const pid_t far = number_in_output(&process);
  cli_process_suspend(&process, true);
  const pid_t all[2] = {process.pid, far};
  for (int i = 0; i < 100 * PATIENCE && !are_stopped(all, true); i++)
    poll(NULL, 0, 10);
  assert_true(are_stopped(all, true));
  cli_process_suspend(&process, false);
  for (int i = 0; i < 100 * PATIENCE && !are_stopped(all, false); i++)
    poll(NULL, 0, 10);
  assert_true(are_stopped(all, false));
  cli_process_kill(&process);
  assert_gone(far);
}

static void a_grandchild_without_the_pipe_is_ended_too(void **state) {
  (void)state;
  cli_outcome out;
  start("sleep 600 >/dev/null 2>&1 & echo $!");
  finish(0.0); /* no need to wait for anything */
  cli_outcome_read(&out, &process, "", "value", false);
  assert_gone((pid_t)out.value);
}

static void a_daemon_with_the_pipe_does_not_hold_us_up(void **state) {
  (void)state;
  cli_outcome out;
  run("setsid sleep 600 & echo $!; sleep 0.1", &out);
  assert_true(out.complete);
  kill((pid_t)out.value, SIGKILL); /* it left the group: it is ours to end */
}

static void a_timeout_ends_the_whole_group(void **state) {
  (void)state;
  start("sleep 600 & echo $!; wait");
  wait_for_output();
  cli_process_stop(&process, CLI_TIMED_OUT, test_clock);
  finish(0.0);
  bool cut;
  assert_gone((pid_t)atoi(cli_last_line_end(&process.last, &cut)));
  cli_outcome out;
  cli_outcome_read(&out, &process, "", "value", false);
  assert_string_equal(out.reason, "timeout");
}

static void one_that_ignores_the_polite_signal_is_killed(void **state) {
  (void)state;
  start("trap '' TERM; echo 1; while :; do sleep 0.1; done");
  wait_for_output();
  cli_process_stop(&process, CLI_TIMED_OUT, test_clock);
  assert_goes_on();
  test_clock += 4.9; /* of 5 s grace */
  assert_goes_on();
  test_clock += 0.2;
  finish(0.0);
  assert_true(WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL);
}

static void one_that_is_stopped_still_hears_it(void **state) {
  (void)state;
  start("kill -STOP $$");
  for (int i = 0; i < 100 * PATIENCE && state_of(process.pid) != 'T'; i++)
    poll(NULL, 0, 10);
  cli_process_stop(&process, CLI_CANCELLED, test_clock);
  finish(0.0);
  assert_true(WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGTERM);
}

/* A parent that dies without a word: its programs, theirs, and its folder go too. */
static void nothing_outlives_the_parent(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    cocabo_error err;
    if (cli_guard_start(&guard, &err) != COCABO_OK)
      _exit(1);
    start("sleep 600 & echo $!; wait");
    wait_for_output();
    bool cut;
    const pid_t pids[2] = {process.pid,
                           (pid_t)atoi(cli_last_line_end(&process.last, &cut))};
    if (write(ends[1], pids, sizeof pids) < 0 ||
        write(ends[1], guard.folder, sizeof guard.folder) < 0)
      _exit(1);
    pause();
  }
  pid_t pids[2];
  char folder[sizeof guard.folder];
  assert_int_equal(read(ends[0], pids, sizeof pids), sizeof pids);
  assert_int_equal(read(ends[0], folder, sizeof folder), sizeof folder);
  close(ends[0]);
  close(ends[1]);
  assert_true(is_alive(pids[0]) && is_alive(pids[1]));
  assert_int_equal(access(folder, F_OK), 0);
  kill(parent, SIGKILL);
  waitpid(parent, NULL, 0);
  assert_gone(pids[0]);
  assert_gone(pids[1]);
  for (int i = 0; i < 100 * PATIENCE && access(folder, F_OK) == 0; i++)
    poll(NULL, 0, 10);
  assert_int_equal(access(folder, F_OK), -1);
}

/* Somebody killed the guard: programs run as before. */
static void a_dead_guard_harms_nobody(void **state) {
  (void)state;
  cli_guard dead;
  cocabo_error err;
  assert_ok(cli_guard_start(&dead, &err));
  kill(dead.pid, SIGKILL);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)dead.pid, &info, WEXITED | WNOWAIT), 0);
  const cli_guard kept = guard;
  guard = dead;
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &old);
  assert_completes("echo 0.731", 0.731);
  sigprocmask(SIG_SETMASK, &old, NULL);
  guard = kept;
  char folder[sizeof dead.folder];
  memcpy(folder, dead.folder, sizeof folder);
  assert_int_equal(access(folder, F_OK), 0);
  cli_guard_stop(&dead);
  assert_int_equal(access(folder, F_OK), -1);
}

/* ---- finding -------------------------------------------------------------------- */

static void commands_are_found_as_the_shell_finds_them(void **state) {
  (void)state;
  char path[4096];
  cocabo_error err;
  assert_ok(cli_find_program("sh", path, sizeof path, &err));
  assert_int_equal(path[0], '/');
  assert_ok(cli_find_program("/bin/sh", path, sizeof path, &err));
  assert_fails(cli_find_program("no-such-program", path, sizeof path, &err),
               COCABO_E_NOT_FOUND, "command not found: \"no-such-program\"");
  assert_fails(cli_find_program("./no-such-program", path, sizeof path, &err),
               COCABO_E_NOT_FOUND,
               "command \"./no-such-program\": No such file or directory");
  assert_fails(cli_find_program("/etc/passwd", path, sizeof path, &err),
               COCABO_E_NOT_FOUND,
               "command \"/etc/passwd\" is not executable, chmod +x makes it so");
  assert_fails(cli_find_program("/tmp", path, sizeof path, &err), COCABO_E_NOT_FOUND,
               "command \"/tmp\" is not a program");
  assert_fails(cli_find_program("", path, sizeof path, &err), COCABO_E_NOT_FOUND,
               "command not found: \"\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_value_is_the_last_line_or_the_result_file),
      cmocka_unit_test(failures_say_why),
      cmocka_unit_test(large_outputs_neither_block_nor_grow),
      cmocka_unit_test(standard_input_is_empty_and_there_is_no_terminal),
      cmocka_unit_test(none_of_our_files_is_open),
      cmocka_unit_test(signals_are_as_usual),
      cmocka_unit_test(a_script_without_an_interpreter_is_for_the_shell),
      cmocka_unit_test(a_program_that_cannot_start_is_a_sentence),
      cmocka_unit_test(a_grandchild_with_the_pipe_does_not_hold_us_up),
      cmocka_unit_test(a_busy_grandchild_with_the_pipe_is_given_a_moment),
      cmocka_unit_test(output_after_the_end_is_not_the_programs),
      cmocka_unit_test(output_on_its_way_is_the_programs),
      cmocka_unit_test(each_has_its_own_descendants),
      cmocka_unit_test(a_program_that_has_ended_is_not_stopped),
      cmocka_unit_test(a_killed_keeper_takes_the_program_along),
      cmocka_unit_test(a_stopped_keeper_hears_us_all_the_same),
      cmocka_unit_test(no_files_are_needed_beyond_the_pipes),
      cmocka_unit_test(its_processes_can_be_suspended),
      cmocka_unit_test(a_grandchild_without_the_pipe_is_ended_too),
      cmocka_unit_test(a_daemon_with_the_pipe_does_not_hold_us_up),
      cmocka_unit_test(a_timeout_ends_the_whole_group),
      cmocka_unit_test(one_that_ignores_the_polite_signal_is_killed),
      cmocka_unit_test(one_that_is_stopped_still_hears_it),
      cmocka_unit_test(nothing_outlives_the_parent),
      cmocka_unit_test(a_dead_guard_harms_nobody),
      cmocka_unit_test(commands_are_found_as_the_shell_finds_them),
  };
  return cmocka_run_group_tests_name("cli/process", tests, set_up, tear_down);
}
