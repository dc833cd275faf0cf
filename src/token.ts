import { runTokenCommand } from './token/token-command.ts';

// Run from its source, by Node's type stripping: `npm run --silent token -- --help`.
process.exitCode = await runTokenCommand(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
