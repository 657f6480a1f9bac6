/** Pictures of the panel: charts and QR codes, and how they are sent. */
import type { FastifyReply } from 'fastify';
import { type LineChart, lineChartSvg } from '../../panel/charts.ts';
import { qrCode } from '../../panel/qr.ts';
import { painter, type Scale } from './png.ts';

const HEADERS = {
  'content-type': 'image/png',
  'content-security-policy': `default-src 'none'`,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=60',
};

export async function chartPng(chart: LineChart, scale: Scale = 1): Promise<Buffer> {
  return await painter.png(lineChartSvg(chart), scale);
}

/** A payment's address as a picture of `qrCode(text).sidePx` pixels each way. */
export async function qrPng(text: string): Promise<Buffer> {
  return await painter.png(qrCode(text).svg);
}

/** `kept` false: one that must not outlive its page. */
export function sendPng(reply: FastifyReply, png: Buffer, { kept = true } = {}): FastifyReply {
  const headers = kept ? HEADERS : { ...HEADERS, 'cache-control': 'no-store' };
  return reply.headers(headers).send(png);
}
