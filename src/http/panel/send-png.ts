/** Renders and sends the panel's pictures: charts and QR codes. */
import type { FastifyReply } from 'fastify';
import { type LineChart, lineChartSvg } from '../../panel/charts/chart.ts';
import { qrCode } from '../../panel/money/qr.ts';
import { type PngOptions, pngRenderer } from './png-renderer.ts';

const HEADERS = {
  'content-type': 'image/png',
  'content-security-policy': `default-src 'none'`,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=60',
};

/** Renders a chart for one customer. Customers do not wait for all charts of another. */
export async function chartPng(
  chart: LineChart,
  picture: PngOptions & { readonly customerId: string },
): Promise<Buffer> {
  return await pngRenderer.png(lineChartSvg(chart), picture);
}

/** Renders a QR code with sides of `qrCode(text).sidePx` pixels. It does not wait for charts. */
export async function qrPng(text: string): Promise<Buffer> {
  return await pngRenderer.png(qrCode(text).svg);
}

/** Pass `kept: false` for a picture that must not outlive its page. */
export function sendPng(reply: FastifyReply, png: Buffer, { kept: isCacheable = true } = {}): FastifyReply {
  const headers = isCacheable ? HEADERS : { ...HEADERS, 'cache-control': 'no-store' };
  return reply.headers(headers).send(png);
}
