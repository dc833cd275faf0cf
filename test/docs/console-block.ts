/** A command of a `console` block and the output that the page shows for it. */
export interface ConsoleStep {
  command: string;
  shown: string;
  /** The command runs until Ctrl-C, which the page shows as `^C` in the last line. */
  isEndless: boolean;
}

/** Commands begin with `$ `. A `\` at the end of a line continues the command. Throws for output without a command. */
export function consoleSteps(text: string): ConsoleStep[] {
  const steps: ConsoleStep[] = [];
  let isContinued = false;
  for (const line of text.trimEnd().split('\n')) {
    const step = steps.at(-1);
    if (isContinued && step) step.command += `\n${line}`;
    else if (line.startsWith('$ ')) {
      steps.push({ command: line.slice(2), shown: '', isEndless: false });
    } else if (!step) throw new Error('A console block begins with a command, "$ …".');
    else if (line === '^C') step.isEndless = true;
    else step.shown += `${line}\n`;
    isContinued = (isContinued || line.startsWith('$ ')) && line.endsWith('\\');
  }
  return steps;
}

/**
 * Whether a command only reads, so that it may be asked again: what a command leads to comes in its own
 * time.
 */
export function isRead(command: string): boolean {
  if (/^agent-gateway (?:doctor|ls|describe)\b/.test(command)) return true;
  return /^curl\b/.test(command) && !/ (?:--json|--data\S*|-d|-X|--request)\b/.test(command);
}
