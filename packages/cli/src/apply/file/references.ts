/** References between the items of a file, by name. */
import { type Desired, isWanted, type WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';

/** Gives the volumes that a server lists their `server`. */
export function withServers(read: Desired): { readonly desired: Desired; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const holders = new Map<string, string>();
  for (const server of (read.servers ?? []).filter(isWanted)) {
    (server.volumes ?? []).forEach((name, at) => {
      const report = (message: string) =>
        faults.push({ place: `${server.place}.volumes[${at}]`, message, exit: 'usage' });
      const volume = read.volumes.find((one) => one.name === name);
      const holder = holders.get(name) ?? (volume && isWanted(volume) ? volume.server : undefined);
      if (!volume) report(`volume "${name}" not found in the file`);
      else if (volume.absent) report(`volume "${name}" is marked as absent`);
      else if (holder !== undefined && holder !== server.name) {
        report(`volume "${name}" already has the server: ${holder ?? 'none'}`);
      }
      holders.set(name, server.name);
    });
  }
  const volumes = read.volumes.map((volume) => {
    const server = holders.get(volume.name);
    return isWanted(volume) && server !== undefined ? { ...volume, server } : volume;
  });
  return { desired: { ...read, volumes }, faults };
}

/**
 * Checks references between the items. `named`: all servers that the file names, including those that have
 * problems of their own.
 */
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
  for (const alert of desired.alerts.filter(isWanted)) {
    (alert.servers ?? []).forEach((name, at) => {
      find(name, `${alert.place}.servers[${at}]`);
    });
  }
  return faults;
}
