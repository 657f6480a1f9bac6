/**
 * The software bill of materials of a release, in CycloneDX: the packages in the lock file that the service
 * or a package of ours uses at run time, for every platform. The same lock file and time give the same text.
 */
import { createHash } from 'node:crypto';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { findPackage, type Lock, type LockedPackage, packageName } from '../lock-file.ts';
import { LICENSE_EXCEPTIONS } from './licenses.ts';

export const SBOM_VERSION = Spec.Version.v1dot6;

export function createBillOfMaterials(lock: Lock, time: Date): string {
  const components = new Map(
    Object.entries(lock)
      .filter(([, { dev = false, link = false }]) => !dev && !link)
      .map(([place, locked]) => [place, describe(lock, place, locked)]),
  );
  for (const [place, component] of components) {
    for (const user of findDependencies(lock, place)) {
      const used = components.get(user);
      if (used !== undefined) component.dependencies.add(used.bomRef);
    }
  }
  const [service, ...others] = components.values();
  if (service === undefined) throw new Error('the lock file lists no package');
  service.type = Enums.ComponentType.Application;
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ timestamp: time, component: service }),
    components: new Models.ComponentRepository(others),
  });
  bom.serialNumber = `urn:uuid:${uuidOf(serialize(bom))}`;
  return `${serialize(bom)}\n`;
}

function describe(lock: Lock, place: string, { version = '', license, integrity, optional }: LockedPackage) {
  const name = packageName(lock, place) || 'skerry';
  const spdx = LICENSE_EXCEPTIONS[name]?.license ?? license;
  const [algorithm, digest = ''] = (integrity ?? '').split('-');
  return new Models.Component(Enums.ComponentType.Library, name, {
    // The same version may be in several places, with other dependencies.
    bomRef: place === '' ? name : place,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    scope: optional === true ? Enums.ComponentScope.Optional : Enums.ComponentScope.Required,
    hashes: new Models.HashDictionary(
      algorithm === 'sha512'
        ? [[Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex')]]
        : [],
    ),
    licenses: new Models.LicenseRepository(
      spdx === undefined
        ? []
        : [spdx.includes(' ') ? new Models.LicenseExpression(spdx) : new Models.SpdxLicense(spdx as never)],
    ),
  });
}

/** Returns the places of the packages that it uses. A link leads to a package of ours. */
function findDependencies(lock: Lock, place: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = lock[place] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const found = findPackage(lock, place, name);
    if (found === null) return [];
    return [lock[found]?.link === true ? (lock[found].resolved ?? found) : found];
  });
}

function serialize(bom: Models.Bom): string {
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
}

/** A UUID (version 8, RFC 9562) that follows from the text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
