-- The operator looks for the top-up that a transaction paid; a transaction may pay several.
create index deposits_by_txid on deposits (txid);
