import { spawn } from 'node:child_process';
import { isIP } from 'node:net';
import { constants } from 'node:os';
import type { Server } from '@skerry/sdk';
import { command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findServer } from '../../find.ts';
import { arg, flag, integer, restArg, text } from '../../options.ts';

/** A name that ssh cannot take for an option. */
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]*$/;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIGNAL_EXIT_BASE = 128;

export const ssh = command({
  name: 'server ssh',
  about: 'Sign in to a server with the ssh of this machine',
  help: 'What stands after the server is run there instead of a shell: options of this command come before. After -- all is run. The exit code is that of ssh.',
  operations: ['servers.get', 'servers.list'],
  args: {
    server: arg('Name or id.', { completionKind: 'server' }),
    command: restArg('What to run there.', { optional: true, passthrough: true }),
  },
  options: {
    user: text('name', 'Who to sign in as; root when left out.'),
    port: integer('number', 'The port of the server’s sshd.', { min: 1, max: 65_535 }),
    identity: text('path', 'The private key to sign in with.', { short: 'i' }),
    ipv6: flag('Over IPv6.'),
  },
  example: 'skerry server ssh web-1 -- uname -a',
  run: async ({ skerry }, { server, command: words, user = 'root', port, identity, ipv6 }) => {
    if (!USER.test(user)) throw new Failure('usage', `--user: "${user}" is not a name`);
    const target = `${user}@${requireAddress(await findServer(skerry, server), ipv6)}`;
    const options = [
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(identity === undefined ? [] : ['-i', identity]),
    ];
    // What ssh says is what the caller wanted to know: nothing of our own comes after it.
    process.exit(await runSsh([...options, target, ...words], target));
  },
});

function requireAddress(server: Server, ipv6: boolean): string {
  const { name, status } = server;
  const address = (ipv6 ? server.ipv6 : server.ipv4)?.address ?? '';
  if (isIP(address) === 0) throw new Failure('conflict', `${name} has no address yet: it is ${status}`);
  if (status !== 'running') {
    const hint = status === 'stopped' ? `; \`skerry server start ${name}\` switches it on` : '';
    throw new Failure('conflict', `${name} is ${status}${hint}`);
  }
  return address;
}

async function runSsh(args: readonly string[], target: string): Promise<number> {
  const child = spawn('ssh', args, { stdio: 'inherit' });
  // Ctrl-C reaches ssh by itself, and it is for ssh to say what comes of it.
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal);
    process.on(signal, () => signal === 'SIGINT' || child.kill(signal));
  }
  return await new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'there is no ssh on this machine' : error.message;
      reject(new Failure('internal', `${why}: sign in to ${target} by other means`));
    });
    child.once('exit', (code, signal) =>
      resolve(code ?? SIGNAL_EXIT_BASE + constants.signals[signal ?? 'SIGTERM']),
    );
  });
}
