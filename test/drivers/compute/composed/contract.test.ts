import type { ComputeWorld } from '../compute-world.ts';
import { computeContract } from '../contract.ts';
import { composedWorld } from './composed-world.ts';
import { contractWorld } from './contract-world.ts';

/** Which backends have the two hosts of the contract. The others are cut off in turn while it runs. */
async function worldWithHosts(first: string | null, second: string | null): Promise<ComputeWorld> {
  const world = await composedWorld(['a', 'b', 'c']);
  const member = (name: string | null) => world.members.find((each) => each.name === name) ?? null;
  await world.addHost(member(first), 'one');
  await world.addHost(member(second), 'two');
  for (const each of world.members) {
    if (each.name === first || each.name === second) continue;
    each.outage = each.name === 'c' ? 'hangs' : 'refuses';
  }
  return contractWorld(world);
}

computeContract('the composed driver with hosts on two backends', () => worldWithHosts('a', 'b'));
computeContract('the composed driver with a local host and a remote one', () => worldWithHosts(null, 'a'));
computeContract('the composed driver with two hosts on one backend', () => worldWithHosts('b', 'b'));
