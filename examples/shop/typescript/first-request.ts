import { client } from './tillbridge.ts'

for (const store of await client.stores.list().all()) console.log(store.storeNumber, store.name)
