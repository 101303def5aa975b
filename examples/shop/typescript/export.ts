import { client } from './tillbridge.ts'

const products = client.products.list()
let count = 0
// Throws an error with the code `truncated` if the response is cut: then start again.
for await (const product of products.export()) if (product.id) count++
console.log(count, 'products as of', products.meta?.asOf)
