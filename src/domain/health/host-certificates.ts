/** Findings about the certificates of hosts on other machines, for `status`. */
import { formatSessionTime } from '../../kernel/time.ts';
import type { HostFinding } from '../../ports/compute.ts';
import { type CertificateStateRow, listCertificateStates } from '../../store/inventory/backends.ts';
import type { Service } from '../context.ts';

/** The first failures pass: a host may be restarting. */
const FAILURES_WARNING = 3;

/** A host whose certificate has ended receives no calls until it is renewed. */
export async function certificateFindings(
  { db }: Pick<Service, 'db'>,
  now = new Date(),
): Promise<HostFinding[]> {
  return (await listCertificateStates(db)).flatMap((row): HostFinding[] => {
    const found = certificateProblem(row, now);
    return found === null ? [] : [{ ...found, subject: 'hosts' }];
  });
}

/** Returns null while the certificate is valid and renews. */
export function certificateProblem(
  { name, certificate_until: until, renewal_failures: failures }: CertificateStateRow,
  now: Date,
): Omit<HostFinding, 'subject'> | null {
  if (until !== null && until <= now) {
    const message = `the certificate of ${name} has ended: start its host, or invite it again`;
    return { level: 'fail', message };
  }
  if (failures < FAILURES_WARNING) return null;
  const ends = until === null ? 'is still self-signed' : `ends ${formatSessionTime(until)} UTC`;
  const message = `the certificate of ${name} ${ends}, and ${failures} renewals failed: see the log`;
  return { level: 'warn', message };
}
