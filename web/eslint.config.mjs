// Rules of the page's sources. With types: whatever is read from a page is checked in data.ts, and nowhere else is `any`.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "*.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "one-var": ["error", "never"],
      "prefer-const": "error",
      "@typescript-eslint/no-non-null-assertion": "off", // of what the lines before have checked
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "max-lines": ["error", 500],
      "max-lines-per-function": ["error", { max: 80, skipComments: true }],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "text of a file would become markup: use h() of dom.ts" },
        { property: "outerHTML", message: "text of a file would become markup: use h() of dom.ts" },
      ],
    },
  },
);
