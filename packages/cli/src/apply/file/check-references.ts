/** Checks references between the items of a file. */
import { type Desired, isWanted, type WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';

/** `named`: all servers that the file names, including those that have problems of their own. */
export function checkReferences(desired: Desired, named: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  const report = (place: string, message: string) => faults.push({ place, message, exit: 'usage' });
  const servers = new Map((desired.servers ?? []).map((server) => [server.name, server]));
  const find = (name: string, place: string): WantedServer | undefined => {
    const server = servers.get(name);
    if (server?.absent) report(place, `server "${name}" is marked as absent`);
    else if (server) return server;
    else if (!named.has(name)) report(place, `server "${name}" not found in the file`);
    return undefined;
  };
  for (const volume of desired.volumes.filter(isWanted)) {
    if (!volume.server) continue;
    const server = find(volume.server, `${volume.place}.server`);
    if (server && server.region !== volume.region) {
      report(`${volume.place}.server`, `is in ${server.region}, but the volume is in ${volume.region}`);
    }
  }
  for (const group of desired.groups.filter(isWanted)) {
    (group.servers ?? []).forEach((name, at) => {
      find(name, `${group.place}.servers[${at}]`);
    });
  }
  return faults;
}
