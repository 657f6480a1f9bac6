/** The baseline server: Fastify with one prepared SELECT per request. Argument 1 is the connection. */
import fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? '{}'), max: 10 });
const app = fastify();
const COLUMNS =
  'id, name, status, plan_id, region_id, ssh_keys, tags, labels, billing_months, auto_renew, ' +
  'paid_until, created_at, updated_at';

app.get<{ Params: { id: string } }>('/servers/:id', async (request) => {
  const { rows } = await pool.query({
    name: 'one',
    text: `select ${COLUMNS} from servers where id = $1`,
    values: [request.params.id],
  });
  return rows[0];
});
app.get<{ Params: { customer: string } }>('/customers/:customer/servers', async (request) => {
  const { rows } = await pool.query({
    name: 'list',
    text: `select ${COLUMNS} from servers where customer_id = $1
            order by created_at desc, id desc limit 25`,
    values: [request.params.customer],
  });
  return { data: rows };
});
process.once('SIGTERM', () => void app.close().then(() => pool.end()));
process.stdout.write(`ready ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
