import type { Medusa } from './medusa.ts'
import type { SeededShop } from './seed.ts'

/** Sells two units of the last variant, as a draft order that is converted. Medusa reserves them at the first location. */
export async function sellUnits(medusa: Medusa, { locations, variants }: SeededShop) {
  const [location] = locations
  const variant = variants.at(-1)
  const { region } = await medusa.request<{ region: { id: string } }>('POST', '/admin/regions', {
    name: 'Europe',
    currency_code: 'eur',
    countries: ['de'],
  })
  const { sales_channels } = await medusa.request<{ sales_channels: { id: string }[] }>('GET', '/admin/sales-channels')
  const [channel] = sales_channels
  if (!channel || !variant || location === undefined) throw new Error('the shop is empty')
  await medusa.request('POST', `/admin/stock-locations/${location}/sales-channels`, { add: [channel.id] })
  const level = { inventory_item_id: variant.inventoryItemId, location_id: location, stocked_quantity: 10 }
  await medusa.request('POST', '/admin/inventory-items/location-levels/batch', { update: [level] })
  const units = 2
  const { draft_order } = await medusa.request<{ draft_order: { id: string } }>('POST', '/admin/draft-orders', {
    region_id: region.id,
    sales_channel_id: channel.id,
    email: 'shopper@example.com',
    items: [{ variant_id: variant.variantId, quantity: units, unit_price: 10 }],
  })
  await medusa.request('POST', `/admin/draft-orders/${draft_order.id}/convert-to-order`, {})
  return { orderId: draft_order.id, units }
}
