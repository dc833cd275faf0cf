import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { consoleSteps, isRead, type ConsoleStep } from './console-block.ts';
import { isAsShown } from './expected-output.ts';
import { answerProblems, sendShown, type Answer } from './http-block.ts';
import type { Block, Page } from './markdown.ts';
import { ShellSession } from './shell-session.ts';
import { projectLookalike, readersEnvironment, type World } from './world.ts';

/** The effect of a command takes a moment. A read is repeated this long until it shows the effect. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;
const COMMAND_TIMEOUT_MS = 40_000;

/** Follows one page from its top as a reader does, with one terminal and one folder. */
export class PageRun {
  private readonly page: Page;
  private readonly world: World;
  private readonly folder: string;
  private readonly session: ShellSession;
  private printed = '';
  private lastAnswer: Answer | undefined;

  constructor(page: Page, world: World) {
    this.page = page;
    this.world = world;
    this.folder = projectLookalike();
    for (const { name, text } of page.blocks) {
      if (name?.includes('.')) writeFileSync(join(this.folder, name), text);
    }
    this.session = ShellSession.start(this.folder, readersEnvironment());
  }

  /** What the page says to do first: pasting the line that the system printed. */
  async begin(): Promise<void> {
    await this.session.run(`${this.world.exportLine}\n`);
    // An error that curl got is one, where the page does not show it.
    await this.session.run('curl() { command curl ${CURL_FAILS:+--fail-with-body} "$@"; }\n');
  }

  /** Runs a block without output of its own: each of its commands has to succeed. */
  async shell(block: Block): Promise<void> {
    const commands = `CURL_FAILS=yes\n${this.world.toReal(block.text)}CURL_FAILS=\n`;
    const timeoutMs = COMMAND_TIMEOUT_MS;
    const { output, exitCode } = await this.session.run(commands, { timeoutMs });
    this.printed += output;
    if (exitCode !== 0) throw new Error(`It ended with exit code ${exitCode}:\n${output}`);
  }

  /** Runs each command and compares its output with what is shown. */
  async console(block: Block): Promise<void> {
    for (const step of consoleSteps(block.text)) await this.consoleStep(step);
  }

  private async consoleStep(step: ConsoleStep): Promise<void> {
    const endsAtMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const said = await this.runStep(step);
      if (isAsShown(step.shown, said)) return;
      if (!isRead(step.command) || performance.now() > endsAtMs) {
        throw new Error(`$ ${step.command}\nsaid\n${said}\nand the page shows\n${step.shown}`);
      }
      await sleep(PAUSE_MS);
    }
  }

  private async runStep({ command, shown, isEndless }: ConsoleStep): Promise<string> {
    let atInterrupt: string | undefined;
    const interruptWhen = (soFar: string): boolean => {
      if (!isAsShown(shown, this.world.toShown(soFar))) return false;
      atInterrupt = soFar;
      return true;
    };
    const { output } = await this.session.run(`${this.world.toReal(command)}\n`, {
      timeoutMs: COMMAND_TIMEOUT_MS,
      ...(isEndless && { interruptWhen }),
    });
    return this.world.toShown(atInterrupt ?? output);
  }

  /** Sends a request that the page shows, or compares an answer that it shows with that of the last. */
  async http(block: Block): Promise<void> {
    const { world } = this;
    if (!isAnswer(block)) {
      this.lastAnswer = await sendShown(world.toReal(block.text), world.gatewayUrl, world.apiKey);
      const { status, body } = this.lastAnswer;
      const next = this.page.blocks[this.page.blocks.indexOf(block) + 1];
      if (status >= 400 && !isAnswer(next)) throw new Error(`It was answered ${status}: ${body}`);
      return;
    }
    const answer = this.lastAnswer;
    if (!answer) throw new Error('No request comes before this answer.');
    const shown = { ...answer, body: world.toShown(answer.body) };
    const problems = answerProblems(block.text, shown);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  /** The address of a page of its own that a block has printed. */
  get ownPage(): string {
    const address = /^file:\/\/\S+$/m.exec(this.printed)?.[0];
    if (address === undefined)
      throw new Error(`No address of a page was printed:\n${this.printed}`);
    return address;
  }

  async end(): Promise<void> {
    await this.session.stop();
    await this.world.forgetAgents();
    rmSync(this.folder, { recursive: true });
  }
}

function isAnswer(block: Block | undefined): boolean {
  return block?.language === 'http' && block.text.startsWith('HTTP/1.1 ');
}
