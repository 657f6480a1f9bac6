import { spawn } from 'node:child_process';
import { isIP } from 'node:net';
import { constants } from 'node:os';
import type { Server } from '@skerry/sdk';
import { command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { arg, flag, integer, restArg, text } from '../../options.ts';

/** A user name that ssh cannot mistake for an option. */
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]*$/;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIGNAL_EXIT_BASE = 128;

export const ssh = command({
  name: 'server ssh',
  about: 'Connect to a server with the ssh of this computer',
  help:
    'Words after the server are run there instead of a shell, so put options of this command before them.\n' +
    'Use -- to pass words that start with a dash. The exit code is that of ssh.',
  operations: FIND_SERVER,
  args: {
    server: arg('Name or ID', { completionKind: 'server' }),
    command: restArg('Command to run on the server', { optional: true, passthrough: true }),
  },
  options: {
    user: text('name', 'User to sign in as (default: root)'),
    port: integer('number', 'SSH port of the server', { min: 1, max: 65_535 }),
    identity: text('path', 'Private key to sign in with', { short: 'i' }),
    ipv6: flag('Connect over IPv6'),
  },
  example: 'skerry server ssh web-1 -- uname -a',
  run: async ({ skerry }, { server, command: words, user = 'root', port, identity, ipv6 }) => {
    if (!USER.test(user)) throw new Failure('usage', `--user: "${user}" is not a valid user name`);
    const target = `${user}@${requireAddress(await findServer(skerry, server), ipv6)}`;
    const options = [
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(identity === undefined ? [] : ['-i', identity]),
    ];
    // ssh has already printed its messages; add nothing of our own.
    process.exit(await runSsh([...options, target, ...words], target));
  },
});

function requireAddress(server: Server, ipv6: boolean): string {
  const { name, status } = server;
  const address = (ipv6 ? server.ipv6 : server.ipv4)?.address ?? '';
  if (isIP(address) === 0) throw new Failure('conflict', `${name} has no IP address yet; it is ${status}`);
  if (status !== 'running') {
    const hint = status === 'stopped' ? `; power it on with \`skerry server start ${name}\`` : '';
    throw new Failure('conflict', `${name} is ${status}${hint}`);
  }
  return address;
}

async function runSsh(args: readonly string[], target: string): Promise<number> {
  const child = spawn('ssh', args, { stdio: 'inherit' });
  // The terminal sends Ctrl-C to ssh as well, and ssh decides how to react.
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal);
    process.on(signal, () => signal === 'SIGINT' || child.kill(signal));
  }
  return await new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'ssh not found on this computer' : error.message;
      reject(new Failure('internal', `${why}; connect to ${target} with another SSH client`));
    });
    child.once('exit', (code, signal) =>
      resolve(code ?? SIGNAL_EXIT_BASE + constants.signals[signal ?? 'SIGTERM']),
    );
  });
}
