# Every defect planted in the example project shows as DEFECTS.md says, and is
# gone with its fix. (Takes long: sanitizer builds, and races that need luck.)
cp -r "$TOP/examples/larder" . && cd larder && exec sh defects/verify.sh
