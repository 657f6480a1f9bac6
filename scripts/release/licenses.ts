/**
 * The licenses that a package may have that we ship or that the service uses at run time.
 * `test/house/licenses.test.ts` compares the lock file with this table, and the bill of materials takes the
 * licenses of the exceptions from it.
 */
import { type Lock, packageName } from '../lock-file.ts';

interface Exception {
  /** As the package names its license. */
  readonly declared: string;
  /** The SPDX identifier of that. */
  readonly license: string;
  readonly why: string;
}

/** They ask for a notice at most. A package with a choice has a row for its SPDX expression. */
export const ALLOWED_LICENSES: readonly string[] = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'MIT OR Apache-2.0'],
  ...['MIT-0', 'PSF-2.0'],
];

const MPL = { declared: 'MPL-2.0', license: 'MPL-2.0' };

export const LICENSE_EXCEPTIONS: Readonly<Record<string, Exception>> = {
  '@novnc/novnc': { ...MPL, why: 'unmodified files, served with their license' },
  '@resvg/resvg-js-linux-arm64-gnu': { ...MPL, why: 'an unmodified binary' },
  '@resvg/resvg-js-linux-x64-gnu': { ...MPL, why: 'an unmodified binary' },
  'dejavu-fonts-ttf': {
    declared: 'SEE LICENSE IN README.md AND LICENSE',
    license: 'Bitstream-Vera',
    why: 'a font that may be embedded',
  },
  openpgp: {
    declared: 'LGPL-3.0+',
    license: 'LGPL-3.0-or-later',
    why: 'a separate, unmodified package that an operator may replace',
  },
};

/** Returns `name: license` of each package that is used at run time, and is in neither table. */
export function findForeignLicenses(lock: Lock): string[] {
  return Object.entries(lock).flatMap(([place, { license = 'none', dev = false, link = false }]) => {
    const name = packageName(lock, place);
    const isAllowed = ALLOWED_LICENSES.includes(license) || LICENSE_EXCEPTIONS[name]?.declared === license;
    return dev || link || isAllowed ? [] : [`${name}: ${license}`];
  });
}
