import type { Medusa } from './medusa.ts'

/** A stocked variant of a shop. */
export interface SeededVariant {
  sku: string
  barcode: string
  variantId: string
  productId: string
  inventoryItemId: string
}

export interface SeededShop {
  /** The IDs of the stock locations (`sloc_…`). */
  locations: string[]
  variants: SeededVariant[]
}

export interface SeedOptions {
  locations: number
  variants: number
  /** The units of each variant at each location. Default 10. */
  units?: number
}

/** The variants of one product. Medusa creates a product and its variants in one transaction. */
const variantsPerProduct = 50
/** The levels of one call. */
const levelsPerCall = 500

/** Fills a shop by the Admin API: stock locations, products with variants `SKU-00001` and so on, and a level of each variant at each location. */
export async function seedMedusa(
  medusa: Medusa,
  { locations, variants, units = 10 }: SeedOptions,
): Promise<SeededShop> {
  const shop: SeededShop = { locations: [], variants: [] }
  for (let at = 1; at <= locations; at++) {
    const { stock_location } = await medusa.request<{ stock_location: { id: string } }>(
      'POST',
      '/admin/stock-locations',
      {
        name: `Store ${at}`,
      },
    )
    shop.locations.push(stock_location.id)
  }
  for (let first = 1; first <= variants; first += variantsPerProduct)
    shop.variants.push(...(await createProduct(medusa, first, Math.min(first + variantsPerProduct - 1, variants))))
  const levels = shop.variants.flatMap(({ inventoryItemId }) =>
    shop.locations.map(location_id => ({ inventory_item_id: inventoryItemId, location_id, stocked_quantity: units })),
  )
  for (let at = 0; at < levels.length; at += levelsPerCall)
    await medusa.request('POST', '/admin/inventory-items/location-levels/batch', {
      create: levels.slice(at, at + levelsPerCall),
    })
  return shop
}

interface CreatedVariant {
  id: string
  sku: string
  barcode: string
  product_id: string
  inventory_items: { inventory_item_id: string }[]
}

async function createProduct(medusa: Medusa, first: number, last: number): Promise<SeededVariant[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => String(first + at).padStart(5, '0'))
  const { product } = await medusa.request<{ product: { id: string } }>('POST', '/admin/products', {
    title: `Product ${numbers[0]}`,
    status: 'published',
    options: [{ title: 'Size', values: numbers }],
    variants: numbers.map(number => ({
      title: number,
      sku: `SKU-${number}`,
      barcode: `93000000${number}`,
      manage_inventory: true,
      options: { Size: number },
      prices: [{ amount: 10, currency_code: 'aud' }],
    })),
  })
  const query = `limit=${numbers.length}&fields=id,sku,barcode,product_id,inventory_items.inventory_item_id`
  const { variants } = await medusa.request<{ variants: CreatedVariant[] }>(
    'GET',
    `/admin/products/${product.id}/variants?${query}`,
  )
  return variants.map(({ id, sku, barcode, product_id, inventory_items: [item] }) => {
    if (!item) throw new Error(`Variant ${id} has no inventory item.`)
    return { sku, barcode, variantId: id, productId: product_id, inventoryItemId: item.inventory_item_id }
  })
}
