/** Checks that the network learns which addresses are on this host. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { HostFinding } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { birdc, readBirdPrefixes, readMachinePrefixes } from '../net/announce.ts';

const SUBJECT = 'announcement';

export async function checkAnnouncement(host: QemuHost): Promise<HostFinding[]> {
  const announcement = host.options.announcement ?? null;
  if (announcement === null) return [];
  const { level, message } =
    announcement.by === 'bird'
      ? await checkBird(host, announcement.socket, announcement.file)
      : await checkCommand(announcement.program);
  return [{ level, subject: SUBJECT, message }];
}

type Result = Pick<HostFinding, 'level' | 'message'>;

async function checkBird(host: QemuHost, socket: string, file: string): Promise<Result> {
  const protocols = await birdc(host, socket, ['show', 'protocols']).catch(() => null);
  if (protocols === null)
    return { level: 'fail', message: 'BIRD does not respond: apt-get install bird2; systemctl start bird' };
  const loaded = (await readBirdPrefixes(host, socket))?.routed ?? null;
  if (loaded === null)
    return { level: 'fail', message: `BIRD has not loaded ${file}: include it in /etc/bird/bird.conf` };
  const sessions = protocols.split('\n').filter((line) => / BGP /.test(line));
  const down = sessions.filter((line) => !/ Established *$/.test(line));
  if (sessions.length === 0 || down.length === sessions.length)
    return { level: 'fail', message: 'no BGP session is established: birdc show protocols all' };
  const wanted = await readMachinePrefixes(host);
  if (wanted[4].join() !== loaded[4].join() || wanted[6].join() !== loaded[6].join())
    return { level: 'note', message: 'BIRD announces other addresses than those of the servers here' };
  if (down.length > 0)
    return { level: 'note', message: `${down.length} of ${sessions.length} BGP sessions are down` };
  return { level: 'ok', message: `${loaded[4].length} servers over ${sessions.length} BGP sessions` };
}

async function checkCommand(program: string): Promise<Result> {
  const isExecutable = await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
  return isExecutable
    ? { level: 'ok', message: 'the route command can be run' }
    : { level: 'fail', message: 'SKERRY_QEMU_ROUTE_COMMAND is not a program that can be run' };
}
