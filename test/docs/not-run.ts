import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KUBERNETES_VERSION } from '../helm/chart.ts';
import { findTool, runTool } from '../helm/tools.ts';
import { isPartAsShown } from './expected-output.ts';
import type { Block } from './markdown.ts';
import { readProjectFile, ROOT } from './pages.ts';
import type { Check } from './treatment.ts';

interface Context {
  /** What `npm run local` has said. */
  said: string;
}

/** Checks of blocks that are not run. Each returns the problem that it finds. */
export const NOT_RUN: Record<Check, (block: Block, context: Context) => string[]> = {
  ci: ({ text }) => commandsOf(text, ['npm', 'bash', 'npx']).flatMap(ciProblems),
  script: ({ text }) => commandsOf(text, ['npm']).flatMap(scriptProblems),
  cluster: ({ text }) =>
    commandsOf(text, ['helm', 'kubectl']).flatMap(([tool = '', ...args]) =>
      tool === 'helm' ? helmProblems(args) : kubectlProblems(args),
    ),
  cli: ({ text }) => commandsOf(text, ['agent-gateway']).flatMap(cliProblems),
  // `test/units` verifies drop-ins together with the units.
  machine: ({ language, text }) =>
    language === 'ini' ? [] : commandsOf(text, MACHINE_TOOLS).flatMap(machineProblems),
  // `test/python/run.ts` installs the package, with its extras.
  python: ({ text }) => commandsOf(text, ['python3', '.', 'pip']).flatMap(pipProblems),
  printed: ({ text }, { said }) =>
    isPartAsShown(text, said) ? [] : [`not printed, but:\n${said}`],
};

/** The words of the commands, as a shell splits them. Stand-ins for the tools record them. */
function commandsOf(text: string, tools: string[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'docs-words-'));
  const words = join(folder, 'words');
  const standIns = tools.map(
    (tool) => `${tool}() { printf '%s\\0' ${tool} "$@" '\n' >>"$WORDS"; }`,
  );
  try {
    const { status, stderr } = spawnSync('bash', ['-euc', `${standIns.join('\n')}\n${text}`], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, WORDS: words },
    });
    if (status !== 0) throw new Error(`bash ends with ${status}: ${stderr}`);
    if (!existsSync(words)) throw new Error(`no command of ${tools.join(', ')}`);
    const lines = readFileSync(words, 'utf8').split('\0\n\0').slice(0, -1);
    return lines.map((line) => line.split('\0'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** CI runs these commands itself, and these tests start the system with `npm run local`. */
function ciProblems(words: string[]): string[] {
  const command = words.filter((word) => !word.startsWith('--')).join(' ');
  if (command === 'npm run local' || command === 'bash .ci/run') return [];
  const ci = readProjectFile('.ci/run').replace(/ --\S+/g, '');
  const isRun = ci.split('\n').some((line) => line.replace(/'$/, '').endsWith(` ${command}`));
  return isRun ? [] : [`${command} is not in .ci/run`];
}

/** These commands take too long or need a machine of their own. The script must exist. */
function scriptProblems(words: string[]): string[] {
  const [npm, run, script = ''] = words.filter((word) => word !== '--silent');
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: object };
  const isScript = npm === 'npm' && (run === 'ci' || (run === 'run' && script in scripts));
  return isScript ? [] : [`${words.join(' ')} is no script`];
}

/** What is installed from the project is a package of it, with the extras that it has. */
function pipProblems([tool, ...words]: string[]): string[] {
  const [, path = '', extras = ''] = /^\.\/([\w/]+)(?:\[([\w,]+)\])?$/.exec(words[1] ?? '') ?? [];
  if (tool !== 'pip' || path === '') return [];
  const project = readProjectFile(join(path, 'pyproject.toml'));
  const unknown = extras.split(',').filter((extra) => !project.includes(`\n${extra} = [`));
  return extras === '' ? [] : unknown.map((extra) => `${path} has no extra ${extra}`);
}

/** Commands that change a machine, or ask what runs there. */
const MACHINE_TOOLS = ['curl', 'docker', 'ls', 'npm', 'sudo'];

/** Every file and unit that they name must be of the project. */
function machineProblems(words: string[]): string[] {
  if (words[0] === 'npm') return scriptProblems(words);
  // A hook is one word: the script and what it gets.
  const files = words.flatMap((word) => /^deploy\/\S+/.exec(word) ?? []);
  const missing = files.filter((file) => !existsSync(join(ROOT, file)));
  const unknown = words.filter(
    (word) => /^agent-gateway[@.]/.test(word) && !existsSync(join(ROOT, unitFile(word))),
  );
  return [...missing, ...unknown].map((word) => `there is no ${word}`);
}

/** The file of `agent-gateway.target`, `agent-gateway@.service` or `agent-gateway@9101`. */
function unitFile(unit: string): string {
  return `deploy/systemd/${unit.replace(/@.*$/, '@.service')}`;
}

const RENDERED = ['install', 'upgrade', 'template'];
const HELM_VERBS = [...RENDERED, 'test', 'rollback', 'diff'];
const KUBECTL_VERBS = ['create', 'apply', 'get', 'logs', 'debug', 'rollout', 'delete', 'describe'];

/** An installation is rendered with its values. Every other command must use a known verb. */
function helmProblems([verb = '', ...args]: string[]): string[] {
  if (!HELM_VERBS.includes(verb)) return [`helm has no ${verb} here`];
  if (!RENDERED.includes(verb)) return [];
  if (findTool('helm') === undefined) {
    return process.env.CI ? ['helm is not here'] : [];
  }
  const rendering = args.filter((word) => !/^--(?:wait|atomic|install|timeout=.*)$/.test(word));
  const { code, stderr } = runTool('helm', [
    'template',
    `--kube-version=${KUBERNETES_VERSION}`,
    ...rendering.map(fromRoot),
  ]);
  return code === 0 ? [] : [stderr];
}

const fromRoot = (word: string): string => (existsSync(join(ROOT, word)) ? join(ROOT, word) : word);

function kubectlProblems([verb = '']: string[]): string[] {
  return KUBECTL_VERBS.includes(verb) ? [] : [`kubectl has no ${verb} here`];
}

/** The help of a command must name the command and its options. */
function cliProblems([, ...words]: string[]): string[] {
  const verbs = words.slice(0, words[0] === 'profile' ? 2 : 1);
  const main = join(ROOT, 'packages/cli/src/main.ts');
  const { stdout } = spawnSync(process.execPath, [main, ...verbs, '--help'], {
    encoding: 'utf8',
  });
  if (!stdout.startsWith(`Usage: agent-gateway ${verbs.join(' ')}`))
    return [`agent-gateway has no ${verbs.join(' ')}`];
  const options = words.filter((word) => word.startsWith('--'));
  return options
    .filter((option) => !stdout.includes(`${option} `))
    .map((option) => `agent-gateway ${verbs.join(' ')} has no ${option}`);
}
