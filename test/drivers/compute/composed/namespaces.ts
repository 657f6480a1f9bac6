/** Names and addresses of the namespaces in `namespaces.test.ts`, and how its processes talk. */

export const HOST_ADDRESSES = { a: '198.51.100.11', b: '198.51.100.12', c: '198.51.100.13' } as const;
export type NamespacedHost = keyof typeof HOST_ADDRESSES;

/** The test's process names them; the processes that it starts have its id from their environment. */
export function namespaceOf(name: string): string {
  process.env.SKERRY_TEST_NETNS ??= `snh${process.pid}`;
  return `${process.env.SKERRY_TEST_NETNS}${name}`;
}

/** The settings of a host's process, as JSON in SKERRY_TEST_HOST. */
export interface HostSettings {
  /** For `pg`. */
  readonly connection: object;
  /** The membership on its disk. */
  readonly membership: object;
  readonly address: string;
  /** Holds the time in milliseconds: the host's clock follows that of the control plane. */
  readonly clockFile: string;
}
