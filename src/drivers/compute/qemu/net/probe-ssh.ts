import type { QemuHost } from '../host.ts';

/** In all, and from the moment that the connection stands. */
const PROBE_TIMEOUT_S = 3;
const GREETING_TIMEOUT_S = 1.5;
/** A guest that begins to listen is noticed so soon: left alone, the kernel would ask a second time only after a whole second. */
const RETRY_S = 0.4;

/**
 * bash speaks TCP itself, in whichever network it was started. A server of SSH greets first. A connection that is slow to stand is
 * not given up for the next one: a machine under load may take longer for each than lies between them.
 */
const PROBE_SCRIPT = `
exec 4<> <(:)
said=
until [ -n "$said" ]; do
  { exec 3<>"/dev/tcp/$1/22" && { IFS= read -r -t ${GREETING_TIMEOUT_S} line <&3; printf 'said %s\\n' "$line"; } } >&4 2>&1 &
  IFS= read -r -t ${RETRY_S} -u 4 said
done
# Those that have ended by themselves are no fault.
kill -KILL $(jobs -p) 2>/dev/null
case $said in
  'said SSH-'*) echo ssh ;;
  'said '*) echo refused ;;
  *'No route'*|*'unreachable'*|*'timed out'*) echo silent ;;
  *) echo refused ;;
esac`;

/** Whether something answers on TCP port 22 of the address: a guest whose install is done. `refused`: its network is up, no SSH. */
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
    // It was still waiting for the first answer.
    return 'silent';
  }
}
