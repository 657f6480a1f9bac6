import type { QemuHost } from '../host.ts';

/** Limits for the whole probe, and for the greeting on an open connection. */
const PROBE_TIMEOUT_S = 3;
const GREETING_TIMEOUT_S = 1.5;
/**
 * Reconnect this often to notice a guest that starts to listen. The kernel would retry only after a second.
 */
const RETRY_S = 0.4;

/**
 * bash speaks TCP without other programs, in whichever network namespace it runs. An SSH server sends its
 * greeting first. A slow connection attempt continues next to later ones: on a machine under load, each can
 * take longer than the interval.
 */
const PROBE_SCRIPT = `
exec 4<> <(:)
said=
until [ -n "$said" ]; do
  { exec 3<>"/dev/tcp/$1/22" && {
    IFS= read -r -t ${GREETING_TIMEOUT_S} line <&3; printf 'said %s\\n' "$line"; } } >&4 2>&1 &
  IFS= read -r -t ${RETRY_S} -u 4 said
done
# Errors of attempts that have already exited are expected.
kill -KILL $(jobs -p) 2>/dev/null
case $said in
  'said SSH-'*) echo ssh ;;
  'said '*) echo refused ;;
  *'No route'*|*'unreachable'*|*'timed out'*) echo silent ;;
  *) echo refused ;;
esac`;

/** Probes TCP port 22. `ssh`: an install is done. `refused`: the network is up, but no SSH answers. */
export async function probeSsh(host: QemuHost, address: string): Promise<'ssh' | 'refused' | 'silent'> {
  const args = [
    '-k',
    '1',
    String(PROBE_TIMEOUT_S),
    'env',
    'LC_ALL=C',
    'bash',
    '-c',
    PROBE_SCRIPT,
    'knock',
    address,
  ];
  try {
    const output = (await host.runInNet('timeout', args)).trim();
    return output === 'ssh' || output === 'refused' ? output : 'silent';
  } catch {
    // The connection attempt was still pending.
    return 'silent';
  }
}
