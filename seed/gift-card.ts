import { dollars } from './money.ts'
import { barcode } from './products.ts'

/** The SKU of gift vouchers: the gift card SKU index. */
export const giftCardSku = 'GIFTCARD'

/** The gift card as a row for `upsertProducts`. It isn't a style: past sales and stock don't contain it. */
export const giftCardRow = () => ({
  product: {
    productId: '5900',
    productCode: giftCardSku,
    name: 'Digital Gift Card',
    description: 'Sent by e-mail, with a number and a PIN. Spent in any of our shops, or online.',
    sizeRange: 'One size',
    referenceValues: {},
    updateTimeStamp: '2025-03-03 09:30:00',
  },
  colour: {
    productId: '5900',
    colourId: '61900',
    code: 'DIG',
    name: 'Digital',
    ecommerceProductId: null,
    markdownStatus: 'none' as const,
  },
  variant: {
    productId: '5900',
    colourId: '61900',
    skuId: '129900',
    sku: giftCardSku,
    sizeCode: 'OS',
    sequence: 1,
    originalPrice: dollars(5_000),
    price: dollars(5_000),
    barcode: barcode(129_900 * 37),
  },
})
