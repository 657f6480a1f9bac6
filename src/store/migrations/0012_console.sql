-- Tickets for a server's console. One opens one WebSocket, then its row is gone. Whoever makes one removes some that
-- are over.
create table console_tickets (
  -- SHA-256 of the ticket, which is kept nowhere.
  digest bytea primary key,
  customer_id uuid not null references customers on delete cascade,
  server_id uuid not null references servers on delete cascade,
  -- A revoked token takes the tickets along that it made. Null: made in a session.
  token_id uuid references api_tokens on delete cascade,
  read_only bool not null,
  expires_at timestamptz not null
);
create index console_tickets_by_customer on console_tickets (customer_id);
create index console_tickets_by_server on console_tickets (server_id);
create index console_tickets_by_token on console_tickets (token_id);
create index console_tickets_over on console_tickets (expires_at);
