/** What openapi/samples.json holds: of each operation the command that does it, for the API's reference. */
import { COMMANDS } from '../packages/cli/src/commands/index.ts';
import { OPERATIONS } from '../src/spec/operations.ts';

/** The example of the command that an operation is the first deed of; else of the first that does it on its way. */
export function commandSamples(): string {
  const shown = COMMANDS.filter(({ hidden }) => !hidden);
  const rows = OPERATIONS.flatMap((id) => {
    const command = shown.find(({ does }) => does[0] === id) ?? shown.find(({ does }) => does.includes(id));
    return command ? [[id, { cli: command.example }] as const] : [];
  });
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}
