/** Moves between hosts of any backends: each call goes to the backend of the host that it is for. */
import { type BackendDirectory, LOCAL_BACKEND } from '../../../ports/backends.ts';
import { type ComputeDriver, ComputeError } from '../../../ports/compute.ts';
import type { MachineMoves, MoveEndpoint } from '../../../ports/moves.ts';
import { completeAddress } from './files.ts';
import type { BackendRegistry } from './registry.ts';

export interface MovesParts {
  readonly local: ComputeDriver;
  readonly directory: Pick<BackendDirectory, 'findBackendOfHost'>;
  readonly registry: BackendRegistry;
}

/** Null if the local driver cannot move machines: all backends are of its kind. */
export function composeMoves({ local, directory, registry }: MovesParts): MachineMoves | null {
  if (local.moves === null) return null;
  const at = async (host: string): Promise<MachineMoves> => {
    const place = await directory.findBackendOfHost(host);
    if (place === LOCAL_BACKEND) return movesOf(local, host);
    const link = (await registry.links()).get(place);
    if (link) return movesOf(link.driver, host);
    throw new ComputeError('transient', `backend ${place} is not in use`);
  };
  const complete = async (host: string, { address }: MoveEndpoint): Promise<MoveEndpoint> => {
    const { backend } = registry.linkTo(await directory.findBackendOfHost(host)) ?? {};
    return { address: completeAddress(address, backend?.address ?? '') };
  };
  return {
    receive: async (move, machine) =>
      await complete(move.to, await (await at(move.to)).receive(move, machine)),
    receiveDisk: async (move, disk) =>
      await complete(move.to, await (await at(move.to)).receiveDisk(move, disk)),
    send: async (move, endpoint) => (await at(move.from)).send(move, endpoint),
    takeOver: async (move) => (await at(move.to)).takeOver(move),
    keep: async (move) => (await at(move.from)).keep(move),
    forget: async (move, host) => (await at(move[host])).forget(move, host),
  };
}

function movesOf({ moves }: ComputeDriver, host: string): MachineMoves {
  if (moves === null) throw new ComputeError('refused', `host ${host} cannot move machines`);
  return moves;
}
