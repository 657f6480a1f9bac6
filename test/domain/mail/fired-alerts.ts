/** The mail about alerts: each kind of condition, and the phrases that it must contain. */
import type { MailData } from '../../../src/spec/mails/data.ts';

export function firedAlerts(name: string): MailData['alerts_fired']['alerts'] {
  return [
    { name, server: name, metric: 'cpu_pct', compare: 'gt', value: 90, window: '10m' },
    { name, server: 'b', metric: 'net_out_bps', compare: 'lt', value: 5_000, window: '1h' },
    { name, server: 'c', metric: 'transfer_pct', compare: 'gt', value: 80, window: '5m' },
    { name, server: 'd', metric: 'unreachable', compare: null, value: null, window: '5m' },
  ];
}

export const FIRED_PHRASES: readonly string[] = [
  '7 alerts fired',
  'at 2026-03-01 12:30 UTC',
  'server web-1: CPU above 90% for 10 minutes.',
  'server b: Outbound traffic below 5000 bytes per second for 60 minutes.',
  'server c: Transfer of the month is above 80%.',
  'server d: its machine has not been seen running for 5 minutes.',
  '3 more are not listed here.',
  'the last email about alerts for up to an hour',
  'https://panel.example/alerts',
];
