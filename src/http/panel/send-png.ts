/** Pictures of the panel: charts and QR codes, and how they are sent. */
import type { FastifyReply } from 'fastify';
import { type LineChart, lineChartSvg } from '../../panel/charts.ts';
import { qrCode } from '../../panel/qr.ts';
import { type PngOptions, pngRenderer } from './png-renderer.ts';

const HEADERS = {
  'content-type': 'image/png',
  'content-security-policy': `default-src 'none'`,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=60',
};

/** Of one customer: others do not wait for all of his charts. */
export async function chartPng(
  chart: LineChart,
  picture: PngOptions & { readonly customerId: string },
): Promise<Buffer> {
  return await pngRenderer.png(lineChartSvg(chart), picture);
}

/** A payment's address as a picture of `qrCode(text).sidePx` pixels each way. It waits for no chart. */
export async function qrPng(text: string): Promise<Buffer> {
  return await pngRenderer.png(qrCode(text).svg);
}

/** `kept` false: one that must not outlive its page. */
export function sendPng(reply: FastifyReply, png: Buffer, { kept: isCacheable = true } = {}): FastifyReply {
  const headers = isCacheable ? HEADERS : { ...HEADERS, 'cache-control': 'no-store' };
  return reply.headers(headers).send(png);
}
