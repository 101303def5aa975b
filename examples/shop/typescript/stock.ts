import { client } from './tillbridge.ts'

let sellable = 0
for await (const level of client.inventory.list({ sku: 'LINDEN-CREW-OAT-M' })) sellable += level.sellable
console.log(sellable > 0 ? `in stock: ${sellable}` : 'sold out')
