import { command } from '../../command.ts';
import { findServer } from '../../find.ts';
import { arg, flag } from '../../options.ts';
import { formatTime } from '../../output/columns.ts';
import { openInBrowser } from './browser.ts';

export const openConsole = command({
  name: 'server console',
  about: "Print the URL of a server's console",
  help:
    'The URL needs no sign-in and is valid for one visit within five minutes, so keep it secret. With a\n' +
    'token of scope read, the console is view-only.',
  operations: ['servers.console', 'servers.get', 'servers.list'],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: { open: flag('Also open the console in your browser') },
  example: 'skerry server console web-1',
  run: async (context, { server, open }) => {
    const { skerry, terminal, output } = context;
    const { id } = await findServer(skerry, server);
    const console = await skerry.servers.console(id);
    output.text(console.url, console);
    const about = console.read_only ? ', view-only because the token has scope read' : '';
    terminal.note(`Valid for one visit until ${formatTime(console.expires_at)} UTC${about}.`);
    if (open) await openInBrowser(console.url, context);
  },
});
