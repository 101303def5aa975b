import type { Medusa } from './medusa.ts'
import type { SeededVariant } from './seed.ts'

/** An order of a shopper with one line. */
export interface SoldOrder {
  orderId: string
  lineId: string
  units: number
  locationId: string
  shippingOptionId: string
}

/** Sells units of a variant at a location, as a draft order that is converted. Medusa reserves them there. */
export async function sellUnits(
  medusa: Medusa,
  { variantId, productId }: SeededVariant,
  locationId: string,
  units: number,
): Promise<SoldOrder> {
  const { region } = await medusa.request<{ region: { id: string } }>('POST', '/admin/regions', {
    name: 'Europe',
    currency_code: 'eur',
    countries: ['de'],
  })
  const { sales_channels } = await medusa.request<{ sales_channels: { id: string }[] }>('GET', '/admin/sales-channels')
  const [channel] = sales_channels
  if (!channel) throw new Error('the shop has no sales channel')
  await medusa.request('POST', `/admin/stock-locations/${locationId}/sales-channels`, { add: [channel.id] })
  const shippingOptionId = await createShippingOption(medusa, productId, locationId)
  const { draft_order } = await medusa.request<{ draft_order: { id: string } }>('POST', '/admin/draft-orders', {
    region_id: region.id,
    sales_channel_id: channel.id,
    email: 'shopper@example.com',
    items: [{ variant_id: variantId, quantity: units, unit_price: 10 }],
  })
  await medusa.request('POST', `/admin/draft-orders/${draft_order.id}/convert-to-order`, {})
  const { order } = await medusa.request<{ order: { id: string; items: { id: string }[] } }>(
    'GET',
    `/admin/orders/${draft_order.id}?fields=id,items.id`,
  )
  const [line] = order.items
  if (!line) throw new Error('the order has no line')
  return { orderId: order.id, lineId: line.id, units, locationId, shippingOptionId }
}

/** Fulfils an order at Medusa. Its reservation ends, and the stocked quantity falls by its units. */
export const fulfilOrder = (
  medusa: Medusa,
  { orderId, lineId, units, locationId, shippingOptionId }: SoldOrder,
): Promise<unknown> =>
  medusa.request('POST', `/admin/orders/${orderId}/fulfillments`, {
    items: [{ id: lineId, quantity: units }],
    location_id: locationId,
    shipping_option_id: shippingOptionId,
  })

/** Creates a way to ship a product from a location: Medusa requires one for a fulfilment. */
async function createShippingOption(medusa: Medusa, productId: string, locationId: string): Promise<string> {
  const { shipping_profile } = await medusa.request<{ shipping_profile: { id: string } }>(
    'POST',
    '/admin/shipping-profiles',
    { name: 'Parcels', type: 'parcels' },
  )
  await medusa.request('POST', `/admin/products/${productId}`, { shipping_profile_id: shipping_profile.id })
  const path = `/admin/stock-locations/${locationId}`
  await medusa.request('POST', `${path}/fulfillment-providers`, { add: ['manual_manual'] })
  const { stock_location } = await medusa.request<{ stock_location: { fulfillment_sets: { id: string }[] } }>(
    'POST',
    `${path}/fulfillment-sets?fields=id,fulfillment_sets.id`,
    { name: 'Parcels', type: 'shipping' },
  )
  const [set] = stock_location.fulfillment_sets
  if (!set) throw new Error('the location has no fulfilment set')
  const { fulfillment_set } = await medusa.request<{ fulfillment_set: { service_zones: { id: string }[] } }>(
    'POST',
    `/admin/fulfillment-sets/${set.id}/service-zones?fields=id,service_zones.id`,
    { name: 'Germany', geo_zones: [{ type: 'country', country_code: 'de' }] },
  )
  const { shipping_option } = await medusa.request<{ shipping_option: { id: string } }>(
    'POST',
    '/admin/shipping-options',
    {
      name: 'Parcel',
      service_zone_id: fulfillment_set.service_zones[0]?.id,
      shipping_profile_id: shipping_profile.id,
      provider_id: 'manual_manual',
      price_type: 'flat',
      type: { label: 'Parcel', description: 'Parcel', code: 'parcel' },
      prices: [{ currency_code: 'eur', amount: 5 }],
    },
  )
  return shipping_option.id
}
