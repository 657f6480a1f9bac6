/** Waits for the end of a server's action, and shows the server. */
import type { Server } from '@skerry/sdk';
import type { Context } from '../../command.ts';
import { nullIf } from '../../find.ts';
import type { WaitFlags } from '../../terminal/wait.ts';
import { waitForBegun } from '../../terminal/wait-for-action.ts';
import { SERVER_COLUMNS } from './show.ts';

/** `show` receives the server at the end, or as it was last if the wait ends early; default: its row. */
export async function waitForServer(
  context: Context,
  waits: WaitFlags,
  begun: Server,
  show: (last: Server) => void = (last) => context.output.showRow(last, SERVER_COLUMNS),
): Promise<Server> {
  const { id, name } = begun;
  const refresh = (signal: AbortSignal) => nullIf('not_found', context.skerry.servers.get(id, { signal }));
  return await waitForBegun(context, waits, begun, { name, refresh, show });
}
