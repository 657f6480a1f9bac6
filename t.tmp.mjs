import * as age from 'age-encryption';
const id = await age.generateX25519Identity();
const e = new age.Encrypter(); e.addRecipient(await age.identityToRecipient(id));
const N=200; let i=0; const buf=new Uint8Array(1<<20);
const src=new ReadableStream({pull(c){ if(i++<N) c.enqueue(buf); else c.close(); }});
let t=performance.now(); let maxgap=0; let last=performance.now(); const iv=setInterval(()=>{const n=performance.now(); maxgap=Math.max(maxgap,n-last); last=n;},1);
const out=await e.encrypt(src); let n=0; for await (const c of out) n+=c.length;
console.log('enc MB/s', N/((performance.now()-t)/1000), n, 'gap', maxgap, process.memoryUsage().rss/1e6);
