import { command } from '../../command.ts';
import { findServer } from '../../find.ts';
import { arg, flag } from '../../options.ts';
import { formatTime } from '../../output/columns.ts';
import { openInBrowser } from './browser.ts';

export const openConsole = command({
  name: 'server console',
  about: 'Print the address of a page with the screen of a server',
  help:
    'The page needs no sign-in, for one visitor, within five minutes: hand its address to nobody else. With a token\n' +
    'of scope read it only shows the screen.',
  operations: ['servers.console', 'servers.get', 'servers.list'],
  args: { server: arg('Name or id.', { completionKind: 'server' }) },
  options: { open: flag('Open it in the browser as well.') },
  example: 'skerry server console web-1',
  run: async (context, { server, open }) => {
    const { skerry, terminal, output } = context;
    const { id } = await findServer(skerry, server);
    const console = await skerry.servers.console(id);
    output.text(console.url, console);
    const about = console.read_only ? ', to look at only: the token has scope read' : '';
    terminal.note(`Good for one visit until ${formatTime(console.expires_at)} UTC${about}.`);
    if (open) await openInBrowser(console.url, context);
  },
});
