/** The contents of openapi/samples.json: a CLI command for each operation, for the API reference. */
import { COMMANDS } from '../packages/cli/src/commands/index.ts';
import { OPERATIONS } from '../src/spec/operations.ts';

/** Uses the command whose first operation matches; otherwise the first command that calls the operation. */
export function commandSamples(): string {
  const visible = COMMANDS.filter(({ hidden }) => !hidden);
  const rows = OPERATIONS.flatMap((id) => {
    const command =
      visible.find(({ operations }) => operations[0] === id) ??
      visible.find(({ operations }) => operations.includes(id));
    return command ? [[id, { cli: command.example }] as const] : [];
  });
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}
