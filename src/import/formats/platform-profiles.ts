import type { LineConverterName } from './line-converters.ts'

/** Formats of exports that common platforms write. Each example file in `examples/data/` is imported by a test. */

const buildShopifyAddress = (prefix: 'billing' | 'delivery', group: string) => ({
  [`${prefix}AddressLine1`]: `${group} Address1`,
  [`${prefix}AddressLine2`]: `${group} Address2`,
  [`${prefix}City`]: `${group} City`,
  [`${prefix}State`]: `${group} Province`,
  [`${prefix}Postcode`]: `${group} Zip`,
  [`${prefix}Country`]: `${group} Country`,
})

const buildWooCommerceAddress = (prefix: 'billing' | 'delivery', group: string) => ({
  [`${prefix}AddressLine1`]: `Address 1&2 (${group})`,
  [`${prefix}City`]: `City (${group})`,
  [`${prefix}State`]: `State Code (${group})`,
  [`${prefix}Postcode`]: `Postcode (${group})`,
  [`${prefix}Country`]: `Country Code (${group})`,
})

/** The other columns of an export are ignored, and those that an older export lacks are left out. */
const defaults = { ignore: ['*'] as string[], allowMissing: true, decimal: '.' } as const

export const platformProfiles = {
  'shopify-orders': {
    description:
      'Shopify: Orders > Export. Import customers first: orders find them by email. Unpaid orders have no payment.',
    profile: {
      type: 'orders',
      lines: 'shopify-orders',
      map: {
        currency: 'Currency',
        orderNumber: 'Name',
        customerEmail: 'Email',
        placedAt: 'Created at',
        total: 'Total',
        freight: 'Shipping',
        tax: 'Taxes',
        orderDiscount: 'Discount Amount',
        orderDiscountReason: 'Discount Code',
        sku: 'Lineitem sku',
        productName: 'Lineitem name',
        quantity: 'Lineitem quantity',
        price: 'Lineitem price',
        discountAmount: 'Lineitem discount',
        paymentGateway: 'Payment Method',
        paymentReference: 'Payment Reference',
        ...buildShopifyAddress('billing', 'Billing'),
        ...buildShopifyAddress('delivery', 'Shipping'),
      },
      ...defaults,
    },
  },
  'shopify-customers': {
    description: 'Shopify: Customers > Export.',
    profile: {
      type: 'customers',
      map: {
        id: 'Customer ID',
        ecommerceLegacyId: 'Customer ID',
        firstname: 'First Name',
        surname: 'Last Name',
        email: 'Email',
        phoneMobile: 'Phone',
        emailSubscription: 'Accepts Email Marketing',
        smsSubscription: 'Accepts SMS Marketing',
        addressLine1: 'Default Address Address1',
        addressLine2: 'Default Address Address2',
        city: 'Default Address City',
        state: 'Default Address Province Code',
        postcode: 'Default Address Zip',
        country: 'Default Address Country Code',
      },
      ...defaults,
    },
  },
  'shopify-products': {
    description: 'Shopify: Products > Export. Colours are the option Color, and sizes the other options.',
    profile: { type: 'products', lines: 'shopify-products', ...defaults },
  },
  'shopify-gift-cards': {
    description:
      'Shopify: Products > Gift cards > Export. Shopify does not export codes: add a column PIN with new PINs. Numbers are the IDs.',
    profile: {
      type: 'vouchers',
      map: {
        number: 'Id',
        pin: 'PIN',
        currency: 'Currency',
        balance: 'Current Balance',
        originalAmount: 'Initial Balance',
        expiryDate: 'Expires On',
        status: 'Enabled?',
      },
      values: { status: { true: 'active', false: 'suspended', yes: 'active', no: 'suspended' } },
      ...defaults,
    },
  },
  'shopify-inventory': {
    description:
      'Shopify: Products > Inventory > Export. Store numbers are the location names, or one store with `--set storeNumber=001`.',
    profile: {
      type: 'stock',
      map: { storeNumber: 'Location', sku: 'SKU', freeStock: 'Available (not editable)' },
      values: { freeStock: { 'not stocked': '0' } },
      ...defaults,
    },
  },
  'square-items': {
    description: 'Square: Items > Export library, as products.',
    profile: {
      type: 'products',
      map: {
        productId: 'Item Name',
        productCode: 'Item Name',
        name: 'Item Name',
        description: 'Description',
        colourId: 'Item Name',
        skuId: 'Token',
        sku: 'SKU',
        sizeCode: 'Variation Name',
        price: 'Price',
        barcode: 'GTIN',
      },
      ...defaults,
    },
  },
  'lightspeed-sales': {
    description:
      'Lightspeed Retail (X-Series, formerly Vend): Sales history > Export. For the store, add `--set storeNumber=001`.',
    profile: { type: 'transactions', set: { channel: 'store' }, lines: 'lightspeed-sales', ...defaults },
  },
  'woocommerce-orders': {
    description:
      'WooCommerce: Advanced Order Export, one row per item. Import customers first: orders find them by email.',
    profile: {
      type: 'orders',
      map: {
        orderNumber: 'Order Number',
        customerEmail: 'Email (Billing)',
        placedAt: 'Order Date',
        total: 'Order Total Amount',
        freight: 'Order Shipping Amount',
        tax: 'Order Total Tax Amount',
        orderDiscount: 'Cart Discount Amount',
        orderDiscountReason: 'Coupon Code',
        sku: 'SKU',
        productName: 'Item Name',
        quantity: 'Quantity (- Refund)',
        price: 'Item Cost',
        status: 'Order Status',
        paymentGateway: 'Payment Method Title',
        paymentAmount: 'Order Total Amount',
        ...buildWooCommerceAddress('billing', 'Billing'),
        ...buildWooCommerceAddress('delivery', 'Shipping'),
      },
      values: {
        status: {
          completed: 'shipped',
          processing: 'processing',
          'on hold': 'processing',
          cancelled: 'cancelled',
          refunded: 'returned',
        },
      },
      ...defaults,
    },
  },
} as const satisfies Record<
  string,
  { description: string; profile: { type: string; lines?: LineConverterName; [option: string]: unknown } }
>

export type PlatformProfileName = keyof typeof platformProfiles
