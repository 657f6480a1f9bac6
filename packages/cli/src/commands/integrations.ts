import { command } from '../command.ts';
import { flag } from '../options.ts';

export const mcp = command({
  name: 'mcp',
  about: 'Serve the API as tools for an assistant, over the Model Context Protocol',
  help: `A client such as an editor or a chat program starts this command and talks to it over stdin and
stdout. It offers a tool for each operation that the token allows. A call that deletes, erases, or charges
something asks first: with a form of the client, or else by a code that a second call must repeat.
Prices are quoted, and nothing above the quoted price is charged. Passwords, signing secrets, and
console URLs are written to files in the configuration folder, and not to the results.`,
  operations: ['account.get'],
  options: { readOnly: flag('Offer only tools that change nothing') },
  example: 'skerry mcp --read-only < /dev/null',
  // Loaded on demand: no other command needs the protocol.
  run: async (context, options) => (await import('../mcp/server.ts')).serve(context, options),
});
