/** What openapi/samples.json holds: of each operation the command that does it, for the API's reference. */
import { COMMANDS } from '../packages/cli/src/commands/index.ts';
import { OPERATIONS } from '../src/spec/operations.ts';

/** The example of the command that an operation is the first deed of; else of the first that does it on its way. */
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
