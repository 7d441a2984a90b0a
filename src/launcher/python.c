/* What launchers that run a Python program share: the interpreter, the script or module, and its arguments.
 */
#include <string.h>

#include "base/alloc.h"
#include "launcher/launcher_internal.h"
#include "model/kind.h"

static bool is_no_python(const struct launch_input *in)
{
    return strcmp(in->job->python, "none") == 0;
}

const char *launcher_python(const struct launch_input *in)
{
    const char *python = in->python ? in->python : in->job->python;
    return strcmp(python, "none") == 0 ? "python3" : python;
}

/* The module's name when program is "-m NAME", else NULL. Borrowed from program. */
static const char *module_name(const char *program)
{
    if (strncmp(program, "-m", 2) != 0 || (program[2] != ' ' && program[2] != '\t' && program[2] != '\0')) {
        return NULL;
    }
    program += 2;
    return program + strspn(program, " \t");
}

static int check_program(const struct launch_input *in, struct error *err)
{
    const char *program = in->program->items[0];
    const char *module = module_name(program);
    if (!*program) {
        error_set(err, &kind_plan, "program is empty");
        return error_hint(err, "name a script, or a module as \"-m pkg.mod\"");
    }
    if (module && (!*module || strpbrk(module, " \t\n"))) {
        error_set(err, &kind_plan, "program '%s' names no module", program);
        return error_hint(err, "write \"-m pkg.mod\" and put arguments into args");
    }
    if (module && is_no_python(in)) {
        error_set(err, &kind_plan, "program '%s' is a module, but python is none", program);
        return error_hint(err, "leave python out, or name an executable as the program");
    }
    if (!module && program[0] == '-') {
        error_set(err, &kind_plan, "program '%s' begins with '-'", program);
        return error_hint(err, "write './%s' if that is its name, and put options into args", program);
    }
    return 0;
}

int launcher_begin_module(const struct launch_input *in, const char *module, struct strlist *argv,
                          struct launch_probe *probe, struct error *err)
{
    if (check_program(in, err)) {
        return -1;
    }
    launcher_add_named(argv, launcher_python(in), probe);
    strlist_add(argv, "-m");
    strlist_add(argv, module);
    return 0;
}

void launcher_add_program(const struct launch_input *in, const char *module_option, struct strlist *argv,
                          struct launch_probe *probe)
{
    const char *program = in->program->items[0];
    const char *module = module_name(program);
    if (is_no_python(in)) {
        strlist_add(argv, "--no_python");
    }
    if (module) {
        strlist_add(argv, module_option);
    }
    /* argparse drops the first "--". One before the program is dropped instead of the one behind it. */
    if (in->args->len && strcmp(in->args->items[0], "--") == 0) {
        strlist_add(argv, "--");
    }
    if (module) {
        strlist_add(argv, module);
    } else {
        launcher_add_named(argv, program, probe);
    }
    strlist_copy(argv, in->args);
    probe->program_type = is_no_python(in) ? LAUNCH_PROGRAM_COMMAND
                          : module         ? LAUNCH_PROGRAM_MODULE
                                           : LAUNCH_PROGRAM_FILE;
    probe->program = xstrdup(module ? module : program);
    probe->interpreter = xstrdup(launcher_python(in));
}
