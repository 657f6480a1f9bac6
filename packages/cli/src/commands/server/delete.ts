import { type DeletedServer, isApiError, type Server, type Skerry } from '@skerry/sdk';
import { command } from '../../command.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { arg } from '../../options.ts';
import { formatUsd } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { waitForServer } from './wait-for-server.ts';

export const remove = command({
  name: 'server delete',
  aliases: ['rm', 'destroy'],
  about: 'Delete a server and its disk permanently',
  help: 'Its volumes and snapshots are kept. Only a server whose install has not ended is refunded.',
  operations: ['servers.delete', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: { yes: YES_OPTION, ...WAIT_OPTIONS },
  example: 'skerry server delete web-1 --yes',
  run: async (context, { server, yes, ...waits }) => {
    const { skerry, terminal } = context;
    const { id, name } = await findServer(skerry, server);
    await confirm(terminal, yes, `delete server ${name} (${id}) and all data on its disk`);
    const started = await startDelete(skerry, id);
    if (started === null) return terminal.note(`Server ${name} deleted.`);
    await waitForServer(context, waits, started, 'deleted', () => {});
    terminal.note(waits.noWait ? `Deletion of server ${name} started.` : `Server ${name} deleted.`);
    const refundUsd = 'refund_usd' in started ? started.refund_usd : 0;
    if (refundUsd > 0) terminal.note(`${formatUsd(refundUsd)} USD came back to your balance.`);
  },
});

/**
 * Returns null if the server is already deleted. The SDK repeats a call whose response was lost, so an error
 * of the repeated call can mean that the first one succeeded.
 */
async function startDelete(skerry: Skerry, id: string): Promise<Server | DeletedServer | null> {
  try {
    return await skerry.servers.delete(id);
  } catch (error) {
    if (!isApiError(error) || !error.mayBeDone) throw error;
    if (error.code === 'not_found') return null;
    const seen = error.code === 'conflict_state' ? await skerry.servers.get(id) : null;
    if (seen?.status === 'destroying') return seen;
    throw error;
  }
}
